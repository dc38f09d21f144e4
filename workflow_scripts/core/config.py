"""Validation of the configuration, with messages that name the key.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

import difflib
import json
import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from jsonschema import Draft202012Validator, ValidationError

from workflow_scripts.core import embedding_columns, models
from workflow_scripts.core.bounds import require_bounded
from workflow_scripts.core.charset import codec
from workflow_scripts.core.embeddings import problems as embedding_problems
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.training_sets import PAIR_COLUMNS, model_columns

Config = dict[str, Any]
FILTER_ROLES = ("filter_forward", "filter_backward")
ROLES = ("forward", "backward", *FILTER_ROLES)
# The keys of each method of search: those it needs, and those it may have.
SEARCH_KEYS = {
    "sample": ({"k", "samples"}, {"temperature"}),
    "beam": ({"beam_size"}, {"nbest"}),
}
NO_BRACES = "Snakemake takes braces for wildcards; rename the file or folder"
# Instance names that the stages themselves use beside the systems' names.
RESERVED_SYSTEMS = {"references", "idf"}


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the configuration."""
    return json.loads(Path(__file__).with_name("config.schema.json").read_text(encoding="utf-8"))


def file_name(url: str) -> str:
    """Return the name under which what a URL gives is kept: its last part, made harmless."""
    name = unquote(urlsplit(url).path).rpartition("/")[2]
    return re.sub(r"[^A-Za-z0-9._-]", "_", name).lstrip(".-") or "file"


def holds_wildcards(path: str) -> bool:
    """Tell whether Snakemake would see wildcards, or the beginning of one, in a path."""
    return "{" in path or "}" in path


def validate(config: Config) -> None:
    """Check a merged configuration.

    Raises:
        InputError: it names each offending key, what is wrong with it and what would be right.
    """
    require_bounded(config)
    for find in (_unusable, _schema_problems, _inconsistencies):
        # Two roles may have the same model, and jsonschema reports each missing key of a mapping as
        # an error of its own.
        if problems := list(dict.fromkeys(find(config))):
            break
    if problems:
        raise InputError("configuration: " + "\n  ".join(["", *problems]).strip())


def _schema_problems(config: Config) -> Iterable[str]:
    errors = sorted(Draft202012Validator(schema()).iter_errors(config), key=lambda e: list(e.path))
    return (line for error in errors for line in _describe(error))


def _unusable(value: Any, path: tuple[Any, ...] = ()) -> Iterator[str]:
    """Yield what YAML can hold, but not JSON, a command line or the name of a file."""
    if isinstance(value, dict):
        for key, each in value.items():
            if isinstance(key, str):
                yield from _unusable(key, path)
                yield from _unusable(each, (*path, key))
            else:
                yield f"{_dotted(path)}: key {key!r} is no text; put it in quotes"
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _unusable(each, (*path, index))
    elif isinstance(value, str) and not _is_text(value):
        yield f"{_dotted(path)}: {value!r} holds NUL or half of a surrogate pair; remove it"
    elif isinstance(value, float) and not math.isfinite(value):
        yield f"{_dotted(path)}: {value} is not a finite number"


def _is_text(value: str) -> bool:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return "\0" not in value


def _dotted(path: Any) -> str:
    return ".".join(map(str, path)) or "the top level"


def _describe(error: ValidationError) -> list[str]:
    where = _dotted(error.absolute_path)
    if error.validator == "additionalProperties" and isinstance(error.instance, dict):
        known = list(error.schema.get("properties", {}))
        unknown = [key for key in error.instance if key not in known]
        return [f"{where}: unknown key '{key}'{_suggestion(key, known)}" for key in unknown]
    if error.validator == "required":
        missing = [key for key in error.validator_value if key not in error.instance]
        return [f"{where}: key '{key}' is missing" for key in missing]
    if error.validator == "dependentRequired":
        needs = [(key, each) for key, many in error.validator_value.items() for each in many]
        return [
            f"{where}: '{key}' needs key '{each}', which is missing"
            for key, each in needs
            if key in error.instance and each not in error.instance
        ]
    if error.validator == "oneOf" and error.context:
        # Of the alternatives, the one meant is the one that failed deepest, and not by its type.
        best = max(error.context, key=lambda e: (len(e.absolute_path), e.validator != "type"))
        if best.validator not in ("type", "not"):
            return _describe(best)
        return [f"{where}: {error.schema.get('description', error.message)}"]
    return [f"{where}: {error.message} ({error.schema.get('description', 'see the schema')})"]


def _suggestion(key: str, known: list[str]) -> str:
    close = difflib.get_close_matches(key, known, n=1)
    if close:
        return f"; did you mean '{close[0]}'?"
    return f"; known keys: {', '.join(sorted(known))}"


def _inconsistencies(config: Config):
    """Yield what a schema can't say: names that are not in their catalogue, conflicting values."""
    run, train, generate = config["run"], config["train"], config["generate"]
    for key, names, catalogue in (
        ("run.corpora", run["corpora"], "corpora"),
        ("run.systems", run["systems"], "systems"),
        ("run.training_sets", run["training_sets"], "training_sets"),
        ("run.embeddings", run["embeddings"], "embeddings"),
        ("evaluate.columns", config["evaluate"]["columns"], "columns"),
        ("train.dev", [train["dev"]], "corpora"),
        ("train.test", [train["test"]], "corpora"),
    ):
        for name in names:
            if name not in config[catalogue]:
                known = list(config[catalogue])
                yield f"{key}: '{name}' is not in {catalogue}{_suggestion(name, known)}"
    for name, block in config["corpora"].items():
        yield from _download_problems(name, block)
    for stage, part in (("train", train), ("generate", generate)):
        for name in part["corpora"] or []:
            if name not in run["corpora"]:
                yield f"{stage}.corpora: '{name}' is not among run.corpora"
    for role in ROLES if config["dual_filter"]["enabled"] else ROLES[:2]:
        name = train["models"][role]
        if name not in config["models"]:
            known = list(config["models"])
            yield f"train.models.{role}: '{name}' is not in models{_suggestion(name, known)}"
        else:
            for problem in models.problems(config["models"][name]):
                yield f"models.{name}: {problem}"
    limit = generate["limit"]
    for name in limit if isinstance(limit, dict) else []:
        if name not in config["corpora"]:
            known = list(config["corpora"])
            yield f"generate.limit: '{name}' is not in corpora{_suggestion(name, known)}"
    for name in (train["dev"], train["test"]):
        if name in (train["corpora"] or run["corpora"]):
            yield f"train: '{name}' can't be trained on and measured on; take it out of one"
    if train["dev"] == train["test"]:
        yield f"train: dev and test are both '{train['dev']}'; a corpus can only be one of them"
    for side, language in config["languages"].items():
        yield from _charset_problems(side, language["charset"])
    if holds_wildcards(config["results"]):
        yield f"results: {config['results']}: {NO_BRACES}"
    shards = config["shards"]
    if shards["early"] % shards["late"]:
        yield f"shards: late ({shards['late']}) does not divide early ({shards['early']})"
    if config["subword"]["model_type"] == "bpe" and config["subword"]["samples"]:
        yield "subword: bpe has no sampled segmentations; set samples to 0 or take unigram"
    if config["clean"]["min_words"] > config["clean"]["max_words"]:
        yield "clean: min_words is greater than max_words"
    if config["dual_filter"]["enabled"]:
        yield from _filter_problems(config)
    for name in run["systems"]:
        yield from _system_problems(name, config["systems"].get(name, {}))
        if name in config["systems"]:
            language = config["languages"]["reference"]["code"]
            yield from _constraint_problems(name, config["systems"][name], language)
    for name, column in config["columns"].items():
        yield from _column_problems(name, column, config)
    yield from embedding_columns.problems(config)
    # What columns of the run are read off is made too.
    behind = [config["columns"][name].get("embedding") for name in model_columns(config)]
    behind = [each for each in behind if each]
    for name in dict.fromkeys([*run["training_sets"], *(each["training_set"] for each in behind)]):
        yield from _training_set_problems(name, config["training_sets"].get(name, {}), config)
    if run["embeddings"] and not run["training_sets"]:
        yield "run.embeddings: there is nothing to train on; name training sets too"
    for name in dict.fromkeys([*run["embeddings"], *(each["name"] for each in behind)]):
        if name in config["embeddings"]:
            yield from embedding_problems(name, config)


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _download_problems(name: str, block: dict[str, Any]):
    urls, hashes = _several(block.get("url")), _several(block.get("sha256"))
    if not urls:
        if hashes:
            yield f"corpora.{name}: sha256 without url"
        return
    if hashes and len(hashes) != len(urls):
        yield f"corpora.{name}: {len(urls)} url, but {len(hashes)} sha256"
    files = [file_name(url) for url in urls]
    for file in sorted({file for file in files if files.count(file) > 1}):
        yield f"corpora.{name}.url: two files of the name {file}; make two corpora of them"
    for key in ("source", "reference", "tsv"):
        for path in _several(block.get(key)):
            if path.partition("/")[0] not in files:
                yield (
                    f"corpora.{name}.{key}: '{path}' does not begin with the name of a downloaded "
                    f"file ({', '.join(files)})"
                )


def _charset_problems(side: str, charset: str | None):
    try:
        if charset is not None:
            codec(charset, side)
    except InputError as error:
        yield str(error)


def _filter_problems(config: Config):
    training = config["train"]["corpora"] or config["run"]["corpora"]
    if not any(config["corpora"][name].get("trusted") for name in training):
        yield "dual_filter: no corpus of train.corpora is trusted, so its models have no data"
    if config["dual_filter"]["method"] == "cross_entropy" and (
        "min_score" not in config["dual_filter"]
    ):
        yield "dual_filter: key 'min_score' is missing, which method cross_entropy needs"


def _system_problems(name: str, system: dict[str, Any]):
    if name in RESERVED_SYSTEMS:
        yield f"systems.{name}: the name is reserved; choose another"
    if not system:
        return
    yield from _search_problems(f"systems.{name}.search", system["search"])
    select, prune_above = system["select"], system["score"]["prune_above"]
    max_sum = select["keep"].get("max_sum")
    if prune_above is not None and max_sum is not None and max_sum > prune_above:
        yield (
            f"systems.{name}: select.keep.max_sum ({max_sum}) is above score.prune_above "
            f"({prune_above}), which would lose candidates that pass"
        )
    if sum(value is not None for value in select["keep"].values()) != 1:
        yield (
            f"systems.{name}.select.keep: give max_sum or quantile a number, and set the other to "
            "null where the file below has one"
        )
    if select["method"] == "cluster" and "clusters" not in select:
        yield f"systems.{name}.select: key 'clusters' is missing, which method cluster needs"
    elif select["method"] == "cluster" and select["best"] > select["clusters"]:
        yield f"systems.{name}: select.best ({select['best']}) needs at least as many clusters"


def _constraint_problems(name: str, system: dict[str, Any], language: str):
    constraints, where = system.get("constraints"), f"systems.{name}.constraints"
    if constraints is None:
        return
    for key, (low, high) in (
        ("fraction", constraints.get("fraction", [0, 0])),
        ("idf.bounds", constraints.get("idf", {}).get("bounds", [0, 0])),
    ):
        if low > high:
            yield f"{where}.{key}: {low} is greater than {high}"
    for variant, choice in constraints.get("variants", {}).items():
        for problem in _variant_problems(choice or {}, constraints, system["search"], language):
            yield f"{where}.variants.{variant}: {problem}"


def _variant_problems(
    choice: dict[str, Any], constraints: dict[str, Any], search: dict[str, Any], language: str
):
    kind, choose = choice.get("kind"), choice.get("choose", {})
    if kind in ("positive", "pair") and search["method"] != "beam":
        yield f"kind {kind} needs search.method beam; samples can't be made to hold a word"
    if "first" in choose and (kind != "negative" or len(choose) > 1 or choice.get("inflect")):
        yield "choose first is for kind negative, alone and without inflect"
    if choose.keys() - {"first"} and "idf" not in constraints:
        yield "constraints.idf is missing, which says which words can be chosen"
    if choice.get("inflect") and language != "en":
        yield f"inflect knows English (en) only, and the references are '{language}'"
    if kind == "pair":
        ppdb = "ppdb" in constraints.get("pairs", {})
        if "pairs" not in constraints:
            yield "constraints.pairs is missing, which names the file of paraphrases"
        elif ppdb != ("relations" in choice):
            yield "relations are for pairs of a ppdb file, and needed there"
        if choice.get("inflect"):
            yield "kind pair has no key 'inflect'; take it out"
    elif "relations" in choice:
        yield f"kind {kind} has no key 'relations'; take it out"


def _search_problems(where: str, search: dict[str, Any]):
    method = search["method"]
    needed, possible = SEARCH_KEYS[method]
    for key in sorted(needed - search.keys()):
        yield f"{where}: key '{key}' is missing, which method {method} needs"
    for key in sorted(search.keys() - needed - possible - {"method"}):
        yield f"{where}: method {method} has no key '{key}'; take it out"
    if method == "beam" and search.get("nbest", 1) > search.get("beam_size", math.inf):
        yield f"{where}: nbest ({search['nbest']}) is above beam_size ({search['beam_size']})"


def _column_problems(name: str, column: dict[str, Any], config: Config):
    # They are parts of folders' names, which must not meet.
    for key, taken in (
        ("pairs", PAIR_COLUMNS),
        ("systems", config["systems"]),
        ("training_sets", config["training_sets"]),
    ):
        if name in taken:
            yield f"columns.{name}: the name is taken in {key}; choose another"
    for key, catalogue in (("name", "embeddings"), ("training_set", "training_sets")):
        named = column.get("embedding", {}).get(key)
        if named is not None and named not in config[catalogue]:
            suggestion = _suggestion(named, list(config[catalogue]))
            yield f"columns.{name}.embedding.{key}: '{named}' is not in {catalogue}{suggestion}"
    for corpus in column.get("language_model", {}).get("corpora") or []:
        if corpus not in config["run"]["corpora"]:
            yield f"columns.{name}.language_model.corpora: '{corpus}' is not among run.corpora"
    if "language_model" in column and name in model_columns(config):
        yield from _language_model_problems(name, column["language_model"], config)


def _language_model_problems(name: str, block: dict[str, Any], config: Config):
    # It is trained on references that are not paraphrased.
    corpora, generate = config["run"]["corpora"], config["generate"]
    limit, paraphrased = generate["limit"], generate["corpora"] or corpora
    unlimited = [
        corpus
        for corpus in paraphrased
        if limit is None or (isinstance(limit, dict) and limit.get(corpus) is None)
    ]
    if set(block["corpora"] or corpora) <= set(unlimited):
        yield (
            f"columns.{name}.language_model: all references of its corpora are paraphrased, and it "
            "learns from others; set a generate.limit, or name a corpus in its corpora that is "
            "not among generate.corpora"
        )


def _training_set_problems(name: str, block: dict[str, Any], config: Config):
    where, grid, folds = f"training_sets.{name}", block.get("grid", {}), block.get("folds")
    for system in block.get("systems") or []:
        if system not in config["run"]["systems"]:
            yield f"{where}.systems: '{system}' is not among run.systems"
    ranges = [(column, each) for column, each in block.get("bounds", {}).items()]
    ranges += [(column, each) for column, many in grid.get("bounds", {}).items() for each in many]
    known = [*PAIR_COLUMNS, *config["columns"]]
    columns = dict.fromkeys([column for column, _ in ranges] + ([folds["column"]] if folds else []))
    for column in columns:
        if column not in known:
            yield f"{where}: '{column}' is no column of pairs{_suggestion(column, known)}"
    for column, (low, high) in ranges:
        if low is not None and high is not None and low > high:
            yield f"{where}: bounds of {column}: {low} is greater than {high}"
    kept = [folds["keep"]] if folds and "keep" in folds else []
    if not folds and "keep" in grid:
        yield f"{where}.grid.keep: it needs folds"
    if folds and not kept and "keep" not in grid:
        yield f"{where}.folds: key 'keep' is missing"
    for part in {part for keep in [*kept, *grid.get("keep", [])] for part in keep}:
        if folds and part > folds["of"]:
            yield f"{where}: folds.keep: {part} is more than folds.of ({folds['of']})"
