"""The language of a sentence, by the detector of py3langid, whose model is part of its package."""

from collections.abc import Callable

from workflow_scripts.core.errors import InputError


def confidence() -> Callable[[str, str], float]:
    """Return a function of (text, code): the probability that a text is in that language.

    Raises:
        InputError: the detector is not installed.
    """
    try:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    except ModuleNotFoundError as error:
        raise InputError(
            f"clean.language_confidence needs the package {error.name}, which is not installed: "
            "run make setup again, or pip install --no-deps -r requirements/language.txt"
        ) from error
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)

    def probability(text: str, code: str) -> float:
        return float(dict(identifier.rank(text))[code])

    return probability
