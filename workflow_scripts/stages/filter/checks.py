"""Checks of `columns` and `training_sets` that a schema cannot express.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from workflow_scripts.core.files.rows import PAIR_COLUMNS
from workflow_scripts.core.suggestion import suggestion
from workflow_scripts.plan import selection
from workflow_scripts.plan.catalogues.encoder_blocks import problems as encoder_problems
from workflow_scripts.plan.catalogues.pair_features import (
    ENCODER,
    ENGLISH,
    GRAMMAR,
    LANGUAGES,
    NEEDS,
    run_grammar,
)
from workflow_scripts.plan.catalogues.training_sets import (
    column_training_sets,
    corpora_axis,
    lacked,
    model_columns,
    outside_corpora,
    sources,
)
from workflow_scripts.plan.catalogues.training_sets import ranges as bounds_of
from workflow_scripts.plan.config import Config, unknown_names
from workflow_scripts.plan.schema import filled
from workflow_scripts.stages.filter import embedding_columns


def problems(config: Config) -> Iterator[str]:
    """Yield what is wrong with the catalogue of columns, and with the training sets of the run."""
    for name, column in config["columns"].items():
        yield from _column_problems(name, column, config)
    yield from embedding_columns.problems(config)
    yield from _outside_problems(config)
    # The run also makes the training sets behind its columns and its encoders.
    behind = [name.partition("-")[0] for name in column_training_sets(config)]
    for name in dict.fromkeys([*config["run"]["training_sets"], *behind]):
        if name in config["training_sets"]:
            yield from _training_set_problems(name, config["training_sets"][name], config)


def notes(config: Config) -> Iterator[str]:
    """Yield which training sets are made without corpora from outside, which lack a column."""
    outside = outside_corpora(config)
    for name in config["run"]["training_sets"] if outside else []:
        block = config["training_sets"][name]
        lacking = {corpus: what for corpus, what in lacked(block, config).items() if what}
        if lacking and filled(block, "training_set")["systems"] is None:
            what = dict.fromkeys(chain(*lacking.values()))
            yield (
                f"training_sets.{name}: pairs from outside have no {' and no '.join(what)}, so it "
                f"is made without {', '.join(lacking)}"
            )


def _outside_problems(config: Config) -> Iterator[str]:
    yield from unknown_names(
        "run.outside",
        outside_corpora(config),
        "outside",
        {"outside": config.get("outside", {})},
    )
    for name in config.get("outside", {}):
        # All stand in the names of folders, which must differ.
        for key in ("systems", "columns", "training_sets"):
            if name in config[key]:
                yield f"outside.{name}: the name is taken in {key}; choose another"
    for name, block in config.get("outside", {}).items():
        columns = filled(block, "outside")["columns"]
        if block.get("ranked") and columns["reference"] >= columns["paraphrase"]:
            yield (
                f"outside.{name}.ranked: all columns from columns.paraphrase on are paraphrases; "
                "the reference must stand before them"
            )


def _column_problems(name: str, column: dict[str, Any], config: Config) -> Iterator[str]:
    # All three stand in the names of folders, which must differ.
    for key, taken in (
        ("pairs", PAIR_COLUMNS),
        ("systems", config["systems"]),
        ("training_sets", config["training_sets"]),
    ):
        if name in taken:
            yield f"columns.{name}: the name is taken in {key}; choose another"
    if "embedding" in column:
        where, named = f"columns.{name}.embedding", column["embedding"]
        yield from unknown_names(f"{where}.name", [named["name"]], "embeddings", config)
        yield from unknown_names(
            f"{where}.training_set", [named["training_set"]], "training_sets", config
        )
    if "encoder" in column:
        named, catalogue = column["encoder"]["name"], {"encoders": config.get("encoders", {})}
        yield from unknown_names(f"columns.{name}.encoder.name", [named], "encoders", catalogue)
    if "feature" in column:
        yield from _feature_problems(name, column["feature"], config)
    if "classifier" in column:
        yield from _classifier_problems(name, column["classifier"])
    needed, (block,) = name in model_columns(config), column.values()
    if block.get("each_corpus") and needed and not selection.generate_corpora(config):
        yield f"columns.{name}: each_corpus: the run has no corpora of its own; take it out"
    if "language_model" in column:
        yield from _language_model_problems(name, column["language_model"], config)


def _classifier_problems(name: str, block: dict[str, Any]) -> Iterator[str]:
    where, test = f"columns.{name}.classifier", block.get("test", 0)
    if test and "negatives" not in block:
        yield f"{where}.test: it needs negatives; add negatives: [random]"
    if block.get("whole_list") and "negatives" not in block:
        yield f"{where}.whole_list: it needs negatives; add negatives: [random]"
    if test + block["validation"] >= 1:
        yield f"{where}: validation and test together leave no reference to train on; lower them"


def _feature_problems(name: str, block: dict[str, Any], config: Config) -> Iterator[str]:
    where, feature = f"columns.{name}.feature", block["name"]
    needed, encoder = NEEDS[feature], block.get("encoder")
    if ENCODER in needed:
        yield from encoder_problems(encoder, f"{where}.encoder")
    elif encoder is not None:
        yield f"{where}.encoder: the feature {feature} needs no encoder; take it out"
    if "grammar" in block and GRAMMAR not in needed:
        yield f"{where}.grammar: the feature {feature} needs no grammar model; take it out"
    language = config["languages"]["reference"]["code"]
    if language in ENGLISH or name not in model_columns(config):
        return
    only = f"knows English (en) only, and the references are '{language}'"
    if feature in LANGUAGES:
        yield f"{where}: '{feature}' {only}; take the column out of the run"
    if GRAMMAR in needed and not run_grammar(block):
        yield f"{where}.grammar: the grammar model that ships {only}; write grammar: run"
    if ENCODER in needed and encoder is None:
        yield f"{where}.encoder: the encoder that is installed {only}; name one of that language"


def _language_model_problems(name: str, block: dict[str, Any], config: Config) -> Iterator[str]:
    where, corpora = f"columns.{name}.language_model", config["run"]["corpora"]
    for corpus in block["corpora"] or []:
        if corpus not in corpora:
            yield f"{where}.corpora: '{corpus}' is not among run.corpora"
    if block.get("each_corpus") and block["corpora"]:
        yield f"{where}: each_corpus is every paraphrased corpus by itself; write corpora: null"
    if name not in model_columns(config):
        return
    limit, paraphrased = config["generate"]["limit"], config["generate"]["corpora"] or corpora
    if block.get("references"):
        # What it learnt is a place in the order of all paraphrased references.
        if block["corpora"] and set(block["corpora"]) != set(paraphrased):
            yield (
                f"{where}.corpora: with references it learns from those that are paraphrased, of "
                "all corpora; write corpora: null"
            )
        return
    # It is trained on references that are not paraphrased.
    unlimited = [
        corpus
        for corpus in paraphrased
        if limit is None or (isinstance(limit, dict) and limit.get(corpus) is None)
    ]
    apart = [corpus for corpus in unlimited if block.get("each_corpus")]
    if apart or set(block["corpora"] or corpora) <= set(unlimited):
        yield (
            f"{where}: all references of {', '.join(apart) or 'its corpora'} are paraphrased, and "
            "it learns from others; set a generate.limit, or references, or name a corpus in its "
            "corpora that is not among generate.corpora"
        )


def _source_problems(name: str, block: dict[str, Any], config: Config) -> Iterator[str]:
    """Yield what is wrong with where the pairs of an entry, in full, come from."""
    where, grid = f"training_sets.{name}", block["grid"]
    outside = outside_corpora(config)
    for system in block["systems"] or []:
        if system not in [*config["run"]["systems"], *outside]:
            yield f"{where}.systems: '{system}' is not among run.systems, nor among run.outside"
        elif system in outside and (lacking := lacked(block, config)[system]):
            yield (
                f"{where}.systems: '{system}' is from outside, and its pairs have no "
                f"{' and no '.join(lacking)}; make an entry of its own for it"
            )
    if name in config["run"]["training_sets"] and not sources(block, config):
        yield (
            f"{where}: the run has no systems, and no pairs from outside have what it asks for; "
            "take it out of run.training_sets, or see docs/filter.md for what such pairs have"
        )
    for other in block["shared"] or []:
        if other not in [*config["run"]["systems"], *outside]:
            yield f"{where}.shared: '{other}' is not among run.systems, nor among run.outside"
    paraphrased = selection.generate_corpora(config)
    if grid.get("corpora") == "each" and not paraphrased:
        yield f"{where}.grid.corpora: the run has no corpora of its own; take it out"
    for corpus in dict.fromkeys(chain(block["corpora"] or [], *corpora_axis(grid, config))):
        if corpus not in paraphrased:
            meant = suggestion(corpus, paraphrased)
            yield f"{where}.corpora: references of '{corpus}' are not paraphrased{meant}"


def _training_set_problems(name: str, block: dict[str, Any], config: Config) -> Iterator[str]:
    where, block = f"training_sets.{name}", filled(block, "training_set")
    grid, folds = filled(block["grid"], "grid"), block["folds"]
    yield from _source_problems(name, block, config)
    ranges = list(block["bounds"].items())
    points = {column: bounds_of(bounds) for column, bounds in grid["bounds"].items()}
    ranges += [(column, point) for column, of_column in points.items() for point in of_column]
    known = [*PAIR_COLUMNS, *config["columns"]]
    for column in dict.fromkeys(
        [*(column for column, _ in ranges), *([folds["column"]] if folds else [])]
    ):
        if column not in known:
            yield f"{where}: '{column}' is no column of pairs{suggestion(column, known)}"
    for column, (low, high) in ranges:
        if low is not None and high is not None and low > high:
            yield f"{where}: bounds of {column}: {low} is greater than {high}"
    yield from _fold_problems(where, folds, grid)
    if block["tune"] and not block["grid"]:
        yield f"{where}.tune: there is nothing to choose among; give it a grid"
    if block["tune"] and not config["sts"].get("development"):
        yield (
            f"{where}.tune: the best point is chosen on development data; name data sets in "
            "sts.development, such as '2016'"
        )
    if block["first"] == "folds" and not folds:
        yield f"{where}.first: folds can't be first where there are none; add folds, or take it out"


def _fold_problems(where: str, folds: dict[str, Any] | None, grid: dict[str, Any]) -> Iterator[str]:
    if not folds:
        if "keep" in grid:
            yield f"{where}.grid.keep: it needs folds"
        return
    choices = [folds["keep"]] if "keep" in folds else []
    choices += grid.get("keep", [])
    if not choices:
        yield f"{where}.folds: key 'keep' is missing"
    for fold in {fold for choice in choices for fold in choice}:
        if fold > folds["of"]:
            yield f"{where}: folds.keep: {fold} is more than folds.of ({folds['of']})"
