"""Figures of other work beside those of a run, wherever both are of the same measure.

Those of the four papers ship with Paraloom (`papers/`); the configuration may have more
(`release.quoted`). A measure is one of `MEASURES`, or a data set or a year of sts.json (Pearson's r
x 100; with `.spearman` behind it, Spearman's).
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from workflow_scripts.core.files.tsv import read_rows
from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.core.report.table import Record, Table, value_at
from workflow_scripts.plan.catalogues.encoder_tasks import PLAIN_STATE, TUNED_STATE
from workflow_scripts.stages.embed.results import Tested, tested
from workflow_scripts.stages.embed.sts_readers import BT17_TASKS, KNOWN
from workflow_scripts.stages.embed.sts_tables import (
    data_columns,
    encoder_differences,
    of_model,
    quotations,
    source_of,
)
from workflow_scripts.stages.encoder.tasks.report import SHOWN, encoder_tasks_table
from workflow_scripts.stages.encoder.tasks.squad import TYPES
from workflow_scripts.stages.evaluate import tables
from workflow_scripts.stages.evaluate.results import (
    ORACLES,
    all_measures,
    mean_modified_bleu,
)
from workflow_scripts.stages.train.results import all_metrics

FIGURES = Path(__file__).with_name("papers") / "figures.tsv"
TABLES = FIGURES.with_name("tables.tsv")
PAPERS = {
    "bt2017": "Wieting, Mallinson & Gimpel 2017",
    "paranmt": "Wieting & Gimpel 2018",
    "parabank": "Hu et al., AAAI 2019",
    "parabank2": "Hu et al., CoNLL 2019",
}
_ENGLISH = "en"
_SPEARMAN = ".spearman"
_TEXT = "text"  # in place of a table
# The ranks that ParaBank 2 compares with each other (Table 2).
PAIRS = {(1, 3), (3, 5), (1, 5)}

Values = list[tuple[str, float]]


class Quoted(NamedTuple):
    """A figure of other work: where it stands, the row's name there, and what differs."""

    source: str
    row: str
    measure: str
    figure: float
    differs: str


class Measure(NamedTuple):
    """A measure that a run may share with other work.

    `differs` says what is not the same besides data and models; `of_run` gives the run's figures
    by the names of their rows, none where it has no such measure.
    """

    title: str
    differs: str
    of_run: Callable[[FinishedRun], Values]


def shipped() -> list[Quoted]:
    """Return the figures of the four papers."""
    told_of = {
        (row["paper"], row["table"]): row for _, row in read_rows(TABLES, ("paper", "table"))
    }
    quoted = []
    for _, row in read_rows(FIGURES, ("paper", "table", "row", "measure", "figure")):
        table = told_of[row["paper"], row["table"]]
        where = f"Table {row['table']} ({table['section']})"
        if row["table"].startswith(_TEXT):
            where = f"section {table['section']}"
        source = f"{PAPERS[row['paper']]}, {where}"
        differs = f"{table['shows']}; data: {table['data']}; models: {table['models']}"
        quoted.append(Quoted(source, row["row"], row["measure"], float(row["figure"]), differs))
    return quoted


def of_configuration(config: dict[str, Any]) -> list[Quoted]:
    """Return the figures that the release's part of a configuration quotes."""
    return [
        Quoted(source_of(quotation), quotation["row"], quotation["data"], quotation["pearson"], "")
        for quotation in quotations(config)
    ]


# --- the run's own figures ---------------------------------------------------------------------


def _rows_of(
    make: Callable[[FinishedRun], Table], name: str
) -> Callable[..., Callable[[FinishedRun], Values]]:
    """Return what makes a function of a path, which gives the figures of a table that stand there.

    Args:
        make: the table, of which the rows of all references count.
        name: of a row, with the names of its columns in braces.
    """

    def at(path: str, pick: Callable[[Any], float | None] = lambda value: value) -> Any:
        return lambda run: _known(
            (name.format(**row), pick(value_at(row, path)))
            for row in make(run).where(references="all").records
        )

    return at


def _chosen_pairs(run: FinishedRun) -> Table:
    table = tables.between_ranks(run)
    return table._replace(
        records=[row for row in table.records if (row["first"], row["second"]) in PAIRS]
    )


_ranks = _rows_of(tables.diversity, "{system}, rank {rank}")
_between = _rows_of(_chosen_pairs, "{system}, rank {first} against {system}, rank {second}")
_variants = _rows_of(tables.variants, "{system} {variant}")
_variant_pairs = _rows_of(tables.variant_pairs, "{system} {first} against {system} {second}")


def _oracles(name: str) -> Callable[[FinishedRun], Values]:
    """Return the function that gives a measure of the oracle systems, and of max against min."""
    return lambda run: [
        (
            f"{system}, {' against '.join([oracle, *(f'{system}, {other}' for other in more)])}",
            value,
        )
        for row, value in _rated(name)(run)
        for system, _, told in [row.rpartition(", ")]
        for oracle, *more in [told.split(" against ")]
        if oracle in ORACLES
    ]


def _all(*parts: Callable[[FinishedRun], Values]) -> Callable[[FinishedRun], Values]:
    """Return the function that gives the figures of several such functions."""
    return lambda run: [pair for part in parts for pair in part(run)]


def _modified_bleu(run: FinishedRun) -> Values:
    """Return that of each variant, and of the first rank of systems without variants."""
    variants = all_measures(run, "variants")
    exact = {
        f"{system} {name}": figures["exact_lengths"]
        for system, measures in variants.items()
        for name, figures in measures["groups"]["all"].items()
    }
    for system, measures in all_measures(run).items():
        if system not in variants:
            parts = measures["groups"]["all"]["exact_lengths"]
            exact[f"{system}, rank 1"] = [{**part, **part["ranks"][0]} for part in parts]
    return _known(
        pair
        for name, parts in exact.items()
        for pair in [
            *((f"{name}, length {part['length']}", part["modified_bleu"]) for part in parts),
            (f"{name}, mean of lengths", mean_modified_bleu(parts)),
        ]
    )


def _known(values: Any) -> Values:
    return [(name, value) for name, value in values if value is not None]


def _of_sets(bag: dict[str, Any] | None) -> float | None:
    """Return the overlap of two sets, as the paper has it, where it is not that of multisets."""
    return bag["intersection_over_union"] if bag and "intersection_over_union_bags" in bag else None


def _rated(name: str) -> Callable[[FinishedRun], Values]:
    def of_run(run: FinishedRun) -> Values:
        # Runs without ratings have no such file.
        folders = [run.folder("evaluate", system) for system in run.instances("evaluate")]
        if not all((folder / "ratings.json").exists() for folder in folders):
            return []
        ranks = [
            (f"{row['system']}, {row['row']}", row.get(name)) for row in tables.ratings(run).records
        ]
        variants = [
            (f"{row['system']} {row['variant']}{_length(row)}", row.get(name))
            for row in tables.variant_ratings(run).records
        ]
        return _known([*ranks, *variants])

    return of_run


def _length(row: Record) -> str:
    return f", length {row['length']}" if "length" in row else ""


def _rewriting(side: str, measure: str, figure: str) -> Callable[[FinishedRun], Values]:
    """Return the function that gives the mean, or the deviation, over lengths of such systems."""

    def of_run(run: FinishedRun) -> Values:
        return _known(
            (
                f"{bilingual if side == 'bilingual' else system} {name}",
                sides[side]["over_lengths"][measure][figure],
            )
            for system, measures in all_measures(run, "rewriting").items()
            for bilingual, pair in measures["bilingual"].items()
            for name, sides in pair["variants"].items()
        )

    return of_run


def _counted(side: str, *path: str) -> Callable[[FinishedRun], Values]:
    """Return the function that gives a figure of statistics.json, of one side or a difference."""

    def of_run(run: FinishedRun) -> Values:
        values = []
        for system, statistics in all_measures(run, "statistics").items():
            value = statistics["sides"][side] if side in statistics["sides"] else statistics[side]
            for key in path:
                value = value[key] if value else None
            values.append((f"{system}, {side}", value))
        return _known(values)

    return of_run


def _scores(figure: str) -> Callable[[FinishedRun], Values]:
    return lambda run: _known(
        (f"{system}, {column}", statistics["columns"][column][figure])
        for system, statistics in all_measures(run, "statistics").items()
        for column in statistics["bins"]  # the paraphrase scores
    )


def _overlaps(figure: str) -> Callable[[FinishedRun], Values]:
    return lambda run: _known(
        (f"{system}, {column}, up to {part['to']}", part[figure])
        for system, statistics in all_measures(run, "statistics").items()
        for column, parts in statistics["bins"].items()
        for part in parts
    )


def _accuracy(side: str) -> Callable[[FinishedRun], Values]:
    """Return the function that gives an accuracy of each classifier that has test sentences."""
    return lambda run: _known(
        (f"{system}, {column}", figures[side])
        for system, statistics in all_measures(run, "statistics").items()
        for column, figures in statistics["classifiers"].items()
        if figures["data"] == "test"
    )


def _of_classifiers(run: FinishedRun) -> Values:
    return _known(
        (f"{system}, {column}, {name}", value)
        for system, statistics in all_measures(run, "statistics").items()
        for column, figures in statistics["correlations"].items()
        for name, value in figures.items()
    )


def _bleu(run: FinishedRun) -> Values:
    models = all_metrics(run).items()
    return _known((role, metrics["bleu"] and metrics["bleu"]["score"]) for role, metrics in models)


def _pairs(stage: str, unit: float) -> Callable[[FinishedRun], Values]:
    """Return the function that gives what each unit of a stage kept, in so many pairs."""
    return lambda run: [
        (instance or run.config["name"], run.manifest(stage, instance)["rows_out"] / unit)
        for instance in ([None] if run.has(stage) else run.instances(stage))
    ]


def _encoder_tasks(
    task: str, parts: Sequence[str], measure: str
) -> Callable[[FinishedRun], Values]:
    """Return the function that gives what encoders reach in a task, x 100."""
    return lambda run: [
        (f"{row['encoder']}, {state}", 100 * row[state]["value"])
        for row in encoder_tasks_table(run).records
        if (row["task"], row["measure"]) == (task, measure) and row["part"] in parts
        for state in (PLAIN_STATE, TUNED_STATE)
    ]


def _percent(of_run: Callable[[FinishedRun], Values]) -> Callable[[FinishedRun], Values]:
    return lambda run: [(name, 100 * value) for name, value in of_run(run)]


_SPANS = [f"{measure}_{kind}" for measure in ("f1", "exact") for kind in TYPES]
_MEAN_AND_DEVIATION = (("", "", "mean"), ("_sd", ": its standard deviation", "deviation"))
_LENGTHS = "mean of those of the exact lengths 5, 10, 20 and 40 that the run has"
_ENCODER = f"here an encoder's cosine x 100, there people's ratings; {_LENGTHS}"
_IDF = "here IDFs of the run's documents"
_REFERENCES = "here words as `evaluate.punctuation` says"
_CLASSIFIER = "another classifier, on its test sentences"
_NATS = "here in nats; the paper does not say"
MEASURES = {
    "one_minus_bleu": Measure(
        "1-BLEU",
        "",
        _all(
            _ranks("one_minus_bleu"),
            _variants("one_minus_bleu"),
            _between("one_minus_bleu"),
            _variant_pairs("one_minus_bleu"),
            _oracles("one_minus_bleu"),
        ),
    ),
    "modified_bleu": Measure("Modified BLEU", "as evaluate defines it", _modified_bleu),
    "intersection_over_union_pieces": Measure(
        "Intersection over union of pieces, x 100",
        "the vocabulary is that of the run's model",
        _all(
            _ranks("pieces?", _of_sets),
            _variants("pieces?", _of_sets),
            _between("pieces?", _of_sets),
            _variant_pairs("pieces?", _of_sets),
            _oracles("intersection_over_union_pieces"),
        ),
    ),
    "tree_edit_distance": Measure(
        "Tree edit distance",
        "another parser, and levels as configured",
        _all(
            _ranks("tree.tree_edit_distance"),
            _between("tree.tree_edit_distance"),
            _variant_pairs("tree_edit_distance"),
            _oracles("tree_edit_distance"),
        ),
    ),
    "length_ratio": Measure(
        "Length ratio",
        "",
        _all(
            _ranks("words?.length_ratio?"),
            _variants("words?.length_ratio?"),
            _oracles("length_ratio"),
        ),
    ),
    "similarity": Measure("Similarity, by people", "other people", _rated("similarity")),
    **{
        f"{name}_{side}{suffix}": Measure(
            f"{title}, {side}{more}", differs, _rewriting(side, measure, figure)
        )
        for side in ("bilingual", "monolingual")
        for suffix, more, figure in _MEAN_AND_DEVIATION
        for name, measure, title, differs in (
            ("similarity", "similarity", "Similarity beside a rewriter", _ENCODER),
            ("bleu", "modified_bleu", "Modified BLEU beside a rewriter", _LENGTHS),
        )
    },
    "grammatical": Measure("Grammatical (%), by people", "other people", _rated("grammatical")),
    **{
        f"{name}{suffix or '_mean'}": Measure(
            f"{title}{more}", differs, _counted("references", name, figure)
        )
        for name, title, differs in (
            ("length", "Mean length of references", _REFERENCES),
            ("idf", "Mean IDF of references", _IDF),
        )
        for suffix, more, figure in _MEAN_AND_DEVIATION
    },
    "vocab_entropy": Measure(
        "Entropy of words, references",
        _NATS,
        _counted("references", "entropy", "unigrams"),
    ),
    "parse_entropy": Measure(
        "Entropy of parses, references",
        "here in nats; the paper does not say; another parser",
        _counted("references", "parse_entropy", "entropy"),
    ),
    **{
        f"{name}{suffix or '_mean'}": Measure(f"{title}{more}", "other vectors", of(figure))
        for name, title, of in (
            ("para_score", "Mean paraphrase score", _scores),
            ("trigram_overlap", "Mean trigram overlap by paraphrase score", _overlaps),
        )
        for suffix, more, figure in _MEAN_AND_DEVIATION
    },
    "entropy_unigrams": Measure(
        "Entropy of words, reference minus candidate",
        _NATS,
        _counted("difference", "unigrams", "entropy"),
    ),
    "entropy_trigrams": Measure(
        "Entropy of trigrams, reference minus candidate",
        _NATS,
        _counted("difference", "trigrams", "entropy"),
    ),
    "repetition_unigrams_percent": Measure(
        "Repeated words (%), reference minus candidate",
        "",
        _percent(_counted("difference", "unigrams", "repetition")),
    ),
    "repetition_trigrams_percent": Measure(
        "Repeated trigrams (%), reference minus candidate",
        "",
        _percent(_counted("difference", "trigrams", "repetition")),
    ),
    "accuracy": Measure("Classifiers, accuracy (%)", _CLASSIFIER, _percent(_accuracy("accuracy"))),
    "reference_accuracy": Measure(
        "Classifiers, accuracy (%) of references", _CLASSIFIER, _percent(_accuracy("references"))
    ),
    "translation_accuracy": Measure(
        "Classifiers, accuracy (%) of paraphrases", _CLASSIFIER, _percent(_accuracy("paraphrases"))
    ),
    "spearman": Measure(
        "Spearman's r x 100 of the classifier's probability with measures of a sentence",
        _IDF,
        _percent(_of_classifiers),
    ),
    "bleu": Measure("BLEU of the translation models", "on the run's test set", _bleu),
    "corpus_pairs": Measure("Pairs of the corpora", "", _pairs("corpus", 1)),
    "size_millions": Measure("Pairs of the corpora, in millions", "", _pairs("corpus", 1e6)),
    "filtered_pairs": Measure(
        "Pairs that the dual filter keeps", "bounds as configured", _pairs("dual_filter", 1)
    ),
    **{
        f"{task}_{measure}": Measure(
            f"Encoders, {task}, {measure} x 100", "other encoders", _encoder_tasks(*shown)
        )
        for shown in (*SHOWN, *(("SQuAD", ("dev",), name) for name in _SPANS))
        for task, _, measure in [shown]
    },
}


def _tested(run: FinishedRun) -> Tested | None:
    return tested(run) if run.has("embed", "sts") else None


def _correlations(sts_test: Tested, data: str, measure: str) -> Values:
    return _known(
        (
            f"{model.embedding}, {model.training_set}",
            of_model(model, data, "trained", measure)["mean"],
        )
        for model in sts_test.models
    )


_TASKS, _DIFFERENCE = "22 tasks", "mean_pearson_abs_diff"


def known_measures() -> set[str]:
    """Return the names of all measures that some run of English has."""
    data = {*KNOWN, *(f"{group}.{name}" for group, names in KNOWN.items() for name in names)}
    spearman = {name + _SPEARMAN for name in data}
    return {*MEASURES, *data, *spearman, _TASKS, _DIFFERENCE}


def _of_sts(sts_test: Tested) -> dict[str, Measure]:
    """Return the measures of a test of embeddings, by the names under which they are quoted."""
    partial = {name.partition(".")[0] for name in sts_test.sts["missing"]}
    measures: dict[str, Measure] = {}

    def add(name: str, title: str, data: str, kind: str) -> None:
        measures[name] = Measure(title, "", lambda _: _correlations(sts_test, data, kind))

    for data in data_columns(sts_test.sts):
        if data in sts_test.sts["pairs"] or data not in partial:
            add(data, f"Pearson's r x 100, {data}", data, "pearson")
            add(data + _SPEARMAN, f"Spearman's r x 100, {data}", data, "spearman")
    if sts_test.sts["overlap"]["bt2017"]["data_sets"] == len(BT17_TASKS):
        add(_TASKS, "Pearson's r x 100, mean of the 22 tasks", "bt2017", "pearson")
    measures[_DIFFERENCE] = Measure(
        "Mean absolute difference of Pearson's r x 100 between two embeddings",
        "the data sets are those of the run",
        lambda _: _known(
            (
                f"{pair['first']} against {pair['second']}, {pair['training_set']}",
                pair["difference"],
            )
            for pair in encoder_differences(sts_test.sts, sts_test.models)
        ),
    )
    return measures


# --- side by side ------------------------------------------------------------------------------


def papers(run: FinishedRun) -> dict[str, Any] | None:
    """Return, for the report, each measure of the run that other work has, side by side.

    The four papers are on English, so their figures stand beside those of English runs alone.

    Returns:
        `measures`: dicts of `title`, `differs` and `rows` (`name`, `own`, `quoted`: each figure
        with the number of its source); `sources`: the sources with their numbers; `unused`: what
        the configuration quotes and this run does not measure. None if there is nothing of these.
    """
    english = run.config["languages"]["reference"] == _ENGLISH
    asked = of_configuration(run.config)
    quoted = [*(shipped() if english else []), *asked]
    sts_test = _tested(run)
    known = {**MEASURES, **(_of_sts(sts_test) if sts_test else {})}
    sources: dict[tuple[str, str], int] = {}
    measures, shown = [], set()
    for name, measure in known.items():
        theirs = [figure for figure in quoted if figure.measure == name]
        own = measure.of_run(run) if theirs else []
        if own:
            shown.add(name)
            rows = _rows(own, theirs, sources)
            measures.append({"title": measure.title, "differs": measure.differs, "rows": rows})
    unused = [figure for figure in asked if figure.measure not in shown]
    if not (measures or unused):
        return None
    numbered = [(number, *key) for key, number in sources.items()]
    return {"measures": measures, "sources": numbered, "unused": unused}


def _rows(
    own: Values, theirs: list[Quoted], sources: dict[tuple[str, str], int]
) -> list[dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {
        name: {"name": name, "own": value, "quoted": []} for name, value in own
    }
    for figure in theirs:
        number = sources.setdefault((figure.source, figure.differs), len(sources) + 1)
        row = rows.setdefault(figure.row, {"name": figure.row, "own": None, "quoted": []})
        row["quoted"].append((figure.figure, number))
    return list(rows.values())
