"""Checks of `generate` and of what systems say of it that a schema cannot express.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

from collections.abc import Iterator
from typing import Any

from workflow_scripts.core.suggestion import suggestion
from workflow_scripts.plan.catalogues import pools
from workflow_scripts.plan.config import Config, unknown_names
from workflow_scripts.plan.schema import filled
from workflow_scripts.stages.generate import rewriter_checks

ENGLISH = "en"

# The prepositions that ParaBank exempts from the lower bound of the IDF (3.2).
PREPOSITIONS = frozenset(
    [
        "about",
        "as",
        "at",
        "by",
        "for",
        "from",
        "in",
        "into",
        "of",
        "on",
        "onto",
        "over",
        "to",
        "with",
    ]
)
# The keys of a search that tell from which tokens samples are drawn.
TRUNCATIONS = ("k", "top_p", "min_p", "epsilon")
# Instance names that the stages themselves use beside the systems' names.
RESERVED_SYSTEMS = {"references", "idf", "words"}


def problems(config: Config) -> Iterator[str]:
    """Yield what is wrong with the references, and with search and constraints of the systems."""
    generate = config["generate"]
    for name in generate["corpora"] or []:
        if name not in config["run"]["corpora"]:
            yield f"generate.corpora: '{name}' is not among run.corpora"
    limits = generate["limit"] if isinstance(generate["limit"], dict) else []
    yield from unknown_names("generate.limit", limits, "corpora", config)
    language = config["languages"]["reference"]["code"]
    for name in config["run"]["systems"]:
        if name in RESERVED_SYSTEMS:
            yield f"systems.{name}: the name is reserved; choose another"
        block = config["systems"].get(name, {"merge": {}})
        if "merge" not in block:
            yield from _system_problems(f"systems.{name}", block, language)
    yield from rewriter_checks.problems(config)


def notes(config: Config) -> Iterator[str]:
    """Yield what of the constraints is switched off, as the references are not English."""
    language = config["languages"]["reference"]["code"]
    for name in config["run"]["systems"]:
        constraints = config["systems"][name].get("constraints") or {}
        if "variants" in constraints:
            left = left_variants(constraints["variants"])
            constraints = {**constraints, "variants": left}
        for switched in switched_off(constraints, language):
            yield f"systems.{name}.constraints.{switched}"
    yield from rewriter_checks.notes(config)


def left_variants(variants: dict[str, Any]) -> dict[str, Any]:
    """Return the variants but for those that are false: a recipe leaves them out of a catalogue's.

    Mappings merge, so they could not be removed otherwise; null is a search without constraints.
    """
    return {name: choice for name, choice in variants.items() if choice is not False}


def for_language(constraints: dict[str, Any], language: str) -> dict[str, Any]:
    """Return constraints without what is English only, where `language` is another.

    These are variants that inflect, and the English prepositions of the catalogue.
    """
    if language == ENGLISH:
        return constraints
    left = dict(constraints)
    if "variants" in left:
        off = _inflecting(left["variants"])
        left["variants"] = {k: v for k, v in left["variants"].items() if k not in off}
    if _exempts_english(left):
        left["idf"] = {**left["idf"], "exempt": []}
    return left


def switched_off(constraints: dict[str, Any], language: str) -> Iterator[str]:
    """Yield a line for each part that `for_language` takes away, with its key below the block."""
    if language == ENGLISH:
        return
    if off := _inflecting(constraints.get("variants", {})):
        yield (
            f"variants: {', '.join(off)} are switched off: they inflect, which knows English (en) "
            f"only, and the references are '{language}'"
        )
    if _exempts_english(constraints):
        yield (
            f"idf.exempt: the English prepositions are switched off, as the references are "
            f"'{language}'; name the prepositions of that language there"
        )


def _inflecting(variants: dict[str, Any]) -> list[str]:
    return [name for name, variant in variants.items() if variant and variant.get("inflect")]


def _exempts_english(constraints: dict[str, Any]) -> bool:
    return set(constraints.get("idf", {}).get("exempt", [])) == PREPOSITIONS


def _system_problems(where: str, system: dict[str, Any], language: str) -> Iterator[str]:
    named, alone = system.get("searches"), system.get("search")
    if named is None and alone is None:
        yield (
            f"{where}: key 'search' is missing, which a system that generates needs, or 'searches' "
            "with several"
        )
        return
    if named is not None and alone is not None:
        yield f"{where}: it has search and searches; set one of them to null"
        return
    if named is not None and not pools.named_searches(system):
        yield f"{where}.searches: all are false, which leaves them out; keep one"
        return
    keys = [f"searches.{name}" for name in pools.named_searches(system)] or ["search"]
    for key, search in zip(keys, pools.searches(system), strict=True):
        yield from _search_problems(f"{where}.{key}", search)
    yield from _pool_problems(where, system)
    search = pools.searches(system)[0]
    constraints = filled(system, "system")["constraints"]
    if constraints is None:
        return
    ranges = {"fraction": constraints.get("fraction")}
    ranges["idf.bounds"] = constraints["idf"]["bounds"] if "idf" in constraints else None
    for key, bounds in ranges.items():
        if bounds is not None and bounds[0] > bounds[1]:
            yield f"{where}.constraints.{key}: {bounds[0]} is greater than {bounds[1]}"
    variants = constraints.get("variants", {})
    if variants and not left_variants(variants):
        yield (
            f"{where}.constraints.variants: all are false, which leaves them out; keep one, or set "
            "constraints to null for a search without any"
        )
    variants = left_variants(variants)
    if variants and not for_language({"variants": variants}, language)["variants"]:
        yield (
            f"{where}.constraints.variants: all inflect, which knows English (en) only, and the "
            f"references are '{language}'; keep others, or set constraints to null"
        )
    for name, choice in variants.items():
        if choice is not None:  # a search without constraints
            problems_of = _variant_problems(choice, constraints, search)
            for problem in problems_of:
                yield f"{where}.constraints.variants.{name}: {problem}"


def _search_problems(where: str, search: dict[str, Any]) -> Iterator[str]:
    search = filled(search, search["method"])
    if search["method"] == "sample" and not any(search[key] for key in TRUNCATIONS):
        yield f"{where}: method sample needs one of {', '.join(TRUNCATIONS)}"
    if search["method"] == "beam" and search["nbest"] > search["beam_size"]:
        yield f"{where}: nbest ({search['nbest']}) is above beam_size ({search['beam_size']})"


def _pool_problems(where: str, system: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with a system's sources, and with constraints of some searches."""
    constraints, named = system.get("constraints") or {}, list(system.get("searches") or {})
    for name in constraints.get("searches", []):
        if name not in named:
            known = suggestion(name, named, "searches") if named else "; take the key out"
            yield f"{where}.constraints.searches: '{name}' is not among {where}.searches{known}"
    wanted = pools.sources(system)
    if not wanted["human"] and not wanted["written"]:
        yield f"{where}.sources: human is false and written is 0, so there are none; give one"
    if wanted["written"]:
        if system.get("rewriter") is not None:
            yield f"{where}.sources: a rewriter reads the reference and no source; take it out"
        yield from _search_problems(f"{where}.sources.search", wanted["search"])
        if (most := pools.outputs(wanted["search"])) < wanted["written"]:
            yield (
                f"{where}.sources.written: {wanted['written']} is above the {most} that "
                f"{where}.sources.search gives at most; give it a larger nbest or more samples"
            )


def _variant_problems(
    block: dict[str, Any], constraints: dict[str, Any], search: dict[str, Any]
) -> Iterator[str]:
    variant = filled(block, "variant")
    kind, choose = variant["kind"], variant["choose"]
    if kind in ("positive", "pair") and search["method"] != "beam":
        yield f"kind {kind} needs search.method beam; samples can't be made to hold a word"
    if "first" in choose and (kind != "negative" or len(choose) > 1 or variant["inflect"]):
        yield "choose first is for kind negative, alone and without inflect"
    if choose.keys() - {"first"} and "idf" not in constraints:
        yield "constraints.idf is missing, which says which words can be chosen"
    if kind == "pair":
        yield from _pair_problems(variant, constraints)
        return
    for key in ("relations", "paraphrase"):
        if key in block:
            yield f"kind {kind} has no key '{key}'; take it out"
    form, other = ("true", "verb") if kind == "negative" else ("verb", "true")
    if str(variant["inflect"]).lower() == other:
        yield f"inflect {other} is not for kind {kind}; write inflect: {form}"


def _pair_problems(variant: dict[str, Any], constraints: dict[str, Any]) -> Iterator[str]:
    if "pairs" not in constraints:
        yield "constraints.pairs is missing, which names the file of paraphrases"
    elif ("ppdb" in constraints["pairs"]) != ("relations" in variant):
        yield "relations are for pairs of a ppdb file, and needed there"
    if variant["inflect"]:
        yield "kind pair has no key 'inflect'; take it out"
