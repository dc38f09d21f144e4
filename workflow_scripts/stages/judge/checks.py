"""Checks of the judges that the run's systems name, which a schema cannot express.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

from collections.abc import Iterator
from typing import Any

from workflow_scripts.core.suggestion import suggestion
from workflow_scripts.plan.catalogues import encoder_blocks, judges
from workflow_scripts.plan.catalogues.pair_features import ENCODER, ENGLISH, LANGUAGES, NEEDS
from workflow_scripts.plan.config import Config
from workflow_scripts.plan.schema import filled


def problems(config: Config) -> Iterator[str]:
    """Yield what is wrong with the judges of the run."""
    language = config["languages"]["reference"]["code"]
    for name in judges.judges(config):
        where, block = f"judges.{name}", config["judges"][name]
        of_language = judges.block_of(config, name)
        yield from _precision_problems(
            f"{where}.precision", of_language, config["compute"]["device"]
        )
        yield from _judge_problems(where, block, language)


def _precision_problems(where: str, block: dict[str, Any], device: str) -> Iterator[str]:
    if filled(block, "judge")["precision"] == "fp32":
        return
    if device == "cuda":
        yield f"{where}: int8 is for CPUs; with device cuda leave it out"
    if ENCODER not in judges.needs(block):
        yield f"{where}: it is that of the encoder, which no feature of this judge needs"


def _judge_problems(where: str, block: dict[str, Any], language: str) -> Iterator[str]:
    is_own = judges.is_own(block)
    if not is_own:
        if fitting := [key for key in block if key != "precision"]:
            yield (
                f"{where}: {', '.join(fitting)} belong to a judge that the run fits; name its "
                "labels or ratings too, or take them out for the judge that ships"
            )
        return
    named = judges.features(block)
    for feature in named:
        if feature not in NEEDS:
            known = suggestion(feature, list(NEEDS))
            yield f"{where}.features: '{feature}' is no feature{known}"
    yield from encoder_blocks.problems(block.get("encoder"), f"{where}.encoder")
    if judges.LANGUAGE_MODEL in judges.needs(block):
        yield f"{where}.features: a run has no model for 'language_model'; take it out"
    if language in ENGLISH:
        return
    for feature in named:
        if language not in LANGUAGES.get(feature, (language,)):
            yield (
                f"{where}.features: '{feature}' knows English (en) only, and the references are "
                f"'{language}'; take it out"
            )
    needs, full = judges.needs(block), filled(block, "judge")
    if judges.GRAMMAR_MODEL in needs and full["grammar"] != "run":
        yield (
            f"{where}.grammar: the grammar model that ships knows English (en) only, and the "
            f"references are '{language}'; write grammar: run, which trains one on them"
        )
    if ENCODER in needs and full["encoder"] is None:
        yield (
            f"{where}.encoder: the encoder that is installed knows English (en) only, and the "
            f"references are '{language}'; name one that knows that language, or take 'cosine' out "
            "of the features"
        )
