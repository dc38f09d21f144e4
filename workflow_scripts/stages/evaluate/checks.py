"""Checks of `evaluate` that a schema cannot express.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

from collections.abc import Iterator

from workflow_scripts.plan.catalogues.pair_features import ENGLISH
from workflow_scripts.plan.catalogues.rewriters import written_by_rewriter
from workflow_scripts.plan.config import Config, unknown_names
from workflow_scripts.stages.generate.checks import for_language, left_variants


def problems(config: Config) -> Iterator[str]:
    """Yield columns of the corpus statistics, and variants, that nobody has; and wrong pairs."""
    yield from unknown_names("evaluate.columns", config["evaluate"]["columns"], "columns", config)
    yield from _rewriting_problems(config)
    known = [_variants(config, system) for system in config["run"]["systems"]]
    for number, pair in enumerate(config["evaluate"].get("variant_pairs", [])):
        if not any(own.issuperset(pair) for own in known):
            yield (
                f"evaluate.variant_pairs.{number}: no system of this run has the variants "
                f"{' and '.join(pair)}; correct the names, or take the pair out"
            )


def _rewriting_problems(config: Config) -> Iterator[str]:
    """Yield what is wrong with the pairs of systems that are compared."""
    pairs = config["evaluate"].get("rewriting", [])
    language = config["languages"]["reference"]["code"]
    if pairs and language not in ENGLISH:
        yield (
            f"evaluate.rewriting: its semantic score is of an encoder for English (en), and the "
            f"references are '{language}'; take the key out"
        )
    for number, pair in enumerate(pairs):
        where = f"evaluate.rewriting.{number}"
        unknown = [name for name in pair if name not in config["run"]["systems"]]
        for name in unknown:
            yield f"{where}: '{name}' is not among run.systems"
        if unknown:
            continue
        if [written_by_rewriter(config, name) for name in pair] != [False, True]:
            yield (
                f"{where}: first comes a system that the forward model writes, then one that a "
                f"rewriter does (systems.<name>.rewriter); correct {', '.join(pair)}"
            )
        first, second = (_variants(config, name) for name in pair)
        if not first & second:
            yield f"{where}: {pair[0]} and {pair[1]} have no variant of the same name"


def _variants(config: Config, system: str) -> set[str]:
    constraints = config["systems"].get(system, {}).get("constraints") or {}
    left = {"variants": left_variants(constraints.get("variants", {}))}
    return set(for_language(left, config["languages"]["reference"]["code"])["variants"])
