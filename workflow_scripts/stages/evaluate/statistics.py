"""Corpus statistics of one system's pairs, as ParaNMT-50M and its forerunner tabulate them.

PNMT is Wieting and Gimpel (ACL 2018), Tables 1 and 3; BT17 is Wieting et al. (EMNLP 2017), Tables
9 and 10. All figures are of a seeded sample of pairs, which bounds memory.

What a word is follows `evaluate.punctuation`. The documents of IDF are the sentences of a file
(the papers: of Wikipedia), or the sample's references.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from workflow_scripts.core.command import command
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.files.input_files import unchanged
from workflow_scripts.core.files.manifest import read_json, shard_paths, verify, write_record
from workflow_scripts.core.files.packed_lines import read_lines
from workflow_scripts.core.files.parquet import read_batches, read_rows
from workflow_scripts.core.files.rows import ScoredRow, TreesRow
from workflow_scripts.core.progress import progress
from workflow_scripts.core.seeding import generator
from workflow_scripts.core.statistics.rank_correlation import spearman
from workflow_scripts.core.statistics.rounding import DECIMALS
from workflow_scripts.core.text.word_tokens import DROPPED, TOKENISERS
from workflow_scripts.stages.evaluate.distributions import (
    Sentences,
    entropy,
    idf_of_documents,
    inverse_document_frequencies,
    mean_idf,
    ngrams,
    repetition,
    sentences,
    with_long_words,
)
from workflow_scripts.stages.evaluate.parse_entropy import (
    COLUMNS,
    Shapes,
    count_shapes,
    parse_entropy,
)
from workflow_scripts.stages.filter.classifier_files import METRICS
from workflow_scripts.stages.filter.classifier_files import RECORD as CLASSIFIER_RECORD
from workflow_scripts.stages.filter.pair_stream import (
    Pairs,
    read_pairs,
    verified_values,
)
from workflow_scripts.stages.filter.sample import Place, last_within, place

# The record of statistics.json: counting.json, as statistics.json itself looks like a record.
RECORD = "counting"
# Table 3 of PNMT: pairs by paraphrase score, up to and including each of these.
BIN_ENDS = (0.2, 0.4, 0.6, 0.8, 1.0)
ORDERS = {"unigrams": 1, "trigrams": 3}
# Of the unigrams that repeat, words of so many characters count (BT17 5.6.1).
LEAST_CHARACTERS = 3
# A line of the file of documents may have so many bytes.
_MOST_BYTES = 1 << 20
# The kinds of columns that are a paraphrase score: the cosine of the two sides.
PARAPHRASE_SCORES = ("vectors", "embedding", "cosine")
CLASSIFIER = "classifier"

Columns = dict[str, NDArray[np.float32]]


class Sample(NamedTuple):
    """Some pairs; a reference stands here once, however many of its pairs do."""

    references: list[str]  # of different ids
    paraphrases: list[str]
    candidates: list[str]  # one of each of these references, drawn from all that were scored
    columns: Columns  # overlap_3, and those that a model computed; unknown is NaN
    # By classifier, the probabilities of the references; NaN for those that it has learnt.
    probabilities: Columns


def _figure(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else round(float(value), DECIMALS)


def spread(values: NDArray[Any]) -> dict[str, float | int | None]:
    """Return how many of the values are known, their mean and their standard deviation."""
    known = values[~np.isnan(values)].astype(np.float64)
    if not len(known):
        return {"count": 0, "mean": None, "deviation": None}
    return {
        "count": len(known),
        "mean": _figure(known.mean()),
        "deviation": _figure(known.std()),
    }


def repetitions(some: Sentences, numbers: dict[str, int]) -> dict[str, NDArray[np.float64]]:
    """Return the repeated shares of each sentence's words and trigrams (BT17 5.6.1).

    Of single words those of at least `LEAST_CHARACTERS` count.
    """
    words = with_long_words(some, numbers, LEAST_CHARACTERS)
    return {"unigrams": repetition(words, 1), "trigrams": repetition(some, 3)}


def side(some: Sentences, numbers: dict[str, int], idf: NDArray[np.float64]) -> dict[str, Any]:
    """Return the figures of one side of a corpus (PNMT Table 1, BT17 Table 9)."""
    return {
        "sentences": len(some.lengths),
        "length": spread(some.lengths.astype(np.float64)),
        "idf": spread(mean_idf(some, idf)),
        "entropy": {name: _figure(entropy(ngrams(some, n)[0])) for name, n in ORDERS.items()},
        "repetition": {name: spread(shares) for name, shares in repetitions(some, numbers).items()},
    }


def difference(references: dict[str, Any], candidates: dict[str, Any]) -> dict[str, Any]:
    """Return reference minus candidate of entropy and repetition (BT17 Table 9)."""

    def minus(one: float | None, other: float | None) -> float | None:
        return None if one is None or other is None else round(one - other, DECIMALS)

    return {
        name: {
            "entropy": minus(references["entropy"][name], candidates["entropy"][name]),
            "repetition": minus(
                references["repetition"][name]["mean"], candidates["repetition"][name]["mean"]
            ),
        }
        for name in ORDERS
    }


def bins(scores: NDArray[np.float32], overlap: NDArray[np.float32]) -> list[dict[str, Any]]:
    """Return the pairs and their trigram overlap by bins of a score (PNMT Table 3)."""
    places = np.searchsorted(np.array(BIN_ENDS[:-1], np.float32), scores)
    places[np.isnan(scores)] = len(BIN_ENDS)
    return [{"to": end, **spread(overlap[places == number])} for number, end in enumerate(BIN_ENDS)]


def correlations(
    sides: Iterable[Sentences],
    numbers: dict[str, int],
    idf: NDArray[np.float64],
    probabilities: Iterable[NDArray[np.float32]],
) -> dict[str, Any]:
    """Return Spearman's correlations of a classifier's probability (BT17 Table 10).

    They are those with repetition, IDF and length, over the sentences of both sides of the pairs.

    Args:
        sides: the references and the paraphrases.
        numbers: of the words.
        idf: of each word.
        probabilities: of the sentences of each side; those that are NaN do not count.
    """
    measured = [
        {
            **{f"repetition_{name}": shares for name, shares in repetitions(some, numbers).items()},
            "idf": mean_idf(some, idf),
            "length": some.lengths.astype(np.float64),
        }
        for some in sides
    ]
    values = np.concatenate(list(probabilities)).astype(np.float64)
    return {
        name: _figure(spearman(values, np.concatenate([each[name] for each in measured])))
        for name in measured[0]
    }


def statistics(
    sample: Sample,
    kinds: dict[str, str],
    shapes: Shapes | None = None,
    documents: Iterable[str] | None = None,
    split: Callable[[str], list[str]] = TOKENISERS[DROPPED],
    metrics: dict[str, dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """Return the statistics of some pairs.

    Args:
        sample: the pairs.
        kinds: of each column that a model computed: one of `PARAPHRASE_SCORES`, or `classifier`
            for the probability to be a reference.
        shapes: the truncated trees of the pairs, None where nothing is parsed.
        documents: of IDF, a sentence each; None: the references.
        split: gives the words of a sentence.
        metrics: the metrics.json of the classifiers, by column, or column and corpus.
    """
    numbers: dict[str, int] = {}
    texts = progress(sample.references, desc="statistics, references")
    references = sentences(texts, numbers, split)
    texts = progress(sample.paraphrases, desc="statistics, pairs")
    paraphrases = sentences(texts, numbers, split)
    texts = progress(sample.candidates, desc="statistics, candidates")
    candidates = sentences(texts, numbers, split)
    if documents is None:
        idf = inverse_document_frequencies(references, max(len(numbers), 1))
        count = len(references.lengths)
    else:
        read = progress(documents, desc="statistics, documents of IDF")
        idf, count = idf_of_documents(read, numbers, split)
    sides = {
        "references": side(references, numbers, idf),
        "paraphrases": side(paraphrases, numbers, idf),
    }
    for name, figures in sides.items():
        figures["parse_entropy"] = parse_entropy(shapes[name]) if shapes else None
    drawn = side(candidates, numbers, idf)
    return {
        "pairs": len(sample.paraphrases),
        "documents": count,
        "sides": {**sides, "candidates": {**drawn, "parse_entropy": None}},
        "difference": difference(sides["references"], drawn),
        "classifiers": classifiers(metrics or {}),
        "columns": {name: spread(sample.columns[name]) for name in ("overlap_3", *kinds)},
        "bins": {
            name: bins(sample.columns[name], sample.columns["overlap_3"])
            for name, kind in kinds.items()
            if kind in PARAPHRASE_SCORES
        },
        "correlations": {
            name: correlations(
                (references, paraphrases),
                numbers,
                idf,
                (sample.probabilities[name], sample.columns[name]),
            )
            for name, kind in kinds.items()
            if kind == CLASSIFIER
        },
    }


def _places(some: Pairs, seed: int) -> list[Place]:
    """Return where some pairs stand in the seeded order of all pairs."""
    ids, ranks = some.texts.column("id").to_pylist(), some.columns["rank"].astype(int).tolist()
    return [place(seed, *pair) for pair in zip(ids, ranks, strict=True)]


def last_sampled(shards: list[Path], limit: int, seed: int) -> Place:
    """Return the last place of the seeded sample of `limit` pairs of `pair_columns` shards."""

    def places() -> Iterator[tuple[Place, int]]:
        for some in read_pairs(shards, {}, ["rank"], ["id"]):
            yield from ((own, 1) for own in _places(some, seed))

    return last_within(places, limit)


def drawn_candidates(shards: list[Path], wanted: Collection[str], seed: int) -> Iterator[str]:
    """Yield a candidate of each wanted reference that has one, at random (BT17, note 5).

    Args:
        shards: of the `scored` schema.
        wanted: ids of references.
        seed: of the draws, which follow from it and the id.
    """
    for shard in shards:
        for batch in read_batches(shard, ScoredRow, ["id", "candidates"], 64):
            # Candidates of all references would be millions of dicts.
            rows = [n for n, name in enumerate(batch.column("id").to_pylist()) if name in wanted]
            for row in batch.take(pa.array(rows, pa.int64())).to_pylist():
                if row["candidates"]:
                    random = generator(seed, "statistics", "candidate", row["id"])
                    yield row["candidates"][int(random.integers(len(row["candidates"])))]["text"]


def classifier_models(folder: Path) -> list[Path]:
    """Return the folders of a column's classifiers: its own, or one of each corpus below it."""
    return sorted(path.parent for path in folder.glob(f"**/{METRICS}"))


def reference_probabilities(folder: Path, references: dict[str, str]) -> NDArray[np.float32]:
    """Return the probabilities of references by a classifier; NaN for those that it has learnt.

    Args:
        folder: of the column; where corpora have a classifier each, theirs lie below it.
        references: by their ids.
    """
    # Only with classifiers torch is needed, which takes its time.
    from workflow_scripts.stages.filter.classifier import Classifier

    corpora = np.array([identifier.partition(":")[0] for identifier in references])
    texts = np.array(list(references.values()), dtype=object)
    result = np.full(len(texts), np.nan, np.float32)
    for model in classifier_models(folder):
        classifier = Classifier.load(model)
        rows = np.flatnonzero((corpora == model.name) | (model == folder))
        probabilities = classifier.probabilities(list(map(classifier.split, texts[rows])))
        learnt = list(map(classifier.has_learnt, texts[rows]))
        result[rows] = np.where(learnt, np.float32(np.nan), probabilities)
    return result


def read_sample(
    shards: list[Path],
    scored: list[Path],
    values: dict[str, list[Path]],
    classifiers: dict[str, Path],
    last: Place,
    seed: int,
) -> Sample:
    """Return the pairs of `pair_columns` shards up to the place `last` in the seeded order.

    Args:
        shards: the pairs.
        scored: the shards of the `scored` schema, with all candidates of the same references.
        values: the shards of each column.
        classifiers: the folder of each column that is one's.
        last: a place.
        seed: of the order, and of the candidates that are drawn.
    """
    references: dict[str, str] = {}
    paraphrases: list[str] = []
    columns: dict[str, list[NDArray[np.float32]]] = {"overlap_3": [], **{k: [] for k in values}}
    texts = ["id", "reference", "paraphrase"]
    for some in read_pairs(shards, values, ["rank", "overlap_3"], texts):
        chosen = np.flatnonzero([own <= last for own in _places(some, seed)])
        for row in some.texts.take(chosen).to_pylist():
            references[row["id"]] = row["reference"]
            paraphrases.append(row["paraphrase"])
        for name, parts in columns.items():
            parts.append(some.columns[name][chosen])
    nothing = np.empty(0, np.float32)
    joined = {name: np.concatenate([nothing, *parts]) for name, parts in columns.items()}
    candidates = list(drawn_candidates(scored, references.keys(), seed))
    probabilities = {
        name: reference_probabilities(folder, references) for name, folder in classifiers.items()
    }
    return Sample(list(references.values()), paraphrases, candidates, joined, probabilities)


def read_shapes(shards: list[Path], last: Place, seed: int) -> Shapes:
    """Return the truncated trees of the same sample's pairs, from `trees` shards."""
    rows = (row for shard in shards for row in read_rows(shard, TreesRow, COLUMNS))
    return count_shapes(
        progress(rows, desc="statistics, trees"),
        lambda identifier, rank: place(seed, identifier, rank) <= last,
    )


def classifiers(metrics: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return how well classifiers tell references from paraphrases (BT17 Table 8).

    Args:
        metrics: their metrics.json, by column, or `<column>, <corpus>`.

    Returns:
        By the same names `data` (`test`, or `validation` where there is no test), `pairs`, the
        accuracies `accuracy`, `references` and `paraphrases`, and `negatives` and `l2`, where
        chosen.
    """
    accuracies = {}
    for name, of_column in metrics.items():
        data = "test" if "test" in of_column else "validation"
        accuracies[name] = {
            "data": data,
            "pairs": of_column[f"{data}_pairs"],
            **{key: of_column[data][key] for key in ("accuracy", "references", "paraphrases")},
            **{key: of_column.get(key) for key in ("negatives", "l2")},
        }
    return accuracies


def read_documents(path: Path) -> Iterator[str]:
    """Yield the lines of a file of documents, plain or compressed.

    Raises:
        InputError: a line is too long or no UTF-8.
    """
    for number, line in enumerate(read_lines(path, _MOST_BYTES), 1):
        try:
            if len(line) > _MOST_BYTES:
                raise ValueError(f"more than {_MOST_BYTES} bytes")
            yield line.decode("utf-8")
        except ValueError as error:
            raise InputError(
                f"{path}, line {number}: {error}; evaluate.documents wants UTF-8 text, a sentence "
                "in each line"
            ) from error


def write_statistics(
    folder: Path,
    scored: Path,
    shards: int,
    output: Path,
    config: dict[str, Any],
    values: dict[str, Path] | None = None,
    trees: Path | None = None,
    documents: Path | None = None,
    inputs: dict[str, str] | None = None,
) -> None:
    """Write the corpus statistics of a system's pairs.

    Args:
        folder: with `pair_columns` shards.
        scored: folder of the score stage, with all candidates.
        output: statistics.json; its record is `counting` beside it.
        config: `pairs` (how many at most), `columns` by their kinds, `seed`, and `punctuation`
            where it is not dropped.
        values: a folder with `pair_values` shards for each column that a model computed.
        trees: a folder with `trees` shards of the same references, where sentences are parsed.
        documents: a file whose lines are the documents of IDF; else they are the sample's
            references.

    Raises:
        InputError: a file is damaged or changed, or the documents have no word.
    """
    values = values or {}
    paths, parsed = shard_paths(folder, shards), shard_paths(trees, shards) if trees else []
    candidates = shard_paths(scored, shards)
    for path in (*paths, *parsed, *candidates):
        verify(path)
    others = verified_values(values, shards)
    last = last_sampled(paths, config["pairs"], config["seed"])
    trained = {name: values[name] for name, kind in config["columns"].items() if kind == CLASSIFIER}
    sample = read_sample(paths, candidates, others, trained, last, config["seed"])
    shapes = read_shapes(parsed, last, config["seed"]) if trees else None
    classifier_metrics = {
        ", ".join([name, *model.relative_to(folder).parts]): read_json(
            model / METRICS, CLASSIFIER_RECORD
        )
        for name, folder in trained.items()
        for model in classifier_models(folder)
    }
    split = TOKENISERS[config.get("punctuation", DROPPED)]
    with unchanged(inputs or {}):
        lines = read_documents(documents) if documents else None
        figures = statistics(sample, config["columns"], shapes, lines, split, classifier_metrics)
    if documents and not figures["documents"]:
        raise InputError(f"{documents}: no line has a word; correct evaluate.documents")
    write_json(output, {"config": config, **figures})
    write_record(output.with_name(RECORD), 0, 0, {}, files=[output])


main = command(write_statistics, __name__)
