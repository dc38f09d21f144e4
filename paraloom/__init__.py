"""Paraphrases of sentences, by the models and the judge of Paraloom.

    import paraloom

    paraphraser = paraloom.Paraphraser("en")
    for paraphrase in paraphraser("Will you do me a favor?", n=5, keep=["favor"], avoid=["do"]):
        print(paraphrase.probability, paraphrase.text)

What stands here is the public interface; docs/library.md describes it. All else may change from one
version to the next. Each name is loaded when it is first used: `import paraloom` alone loads no
model and no torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paraloom.answers import Paraphrase, Paraphrases, Translation, Translations
    from paraloom.paraphraser import Paraphraser
    from paraloom.reading import read
    from paraloom.requests import ArgumentError, Request
    from paraloom.rewriter import Rewriter
    from paraloom.scoring import judge, score
    from paraloom.search import Search
    from paraloom.translator import Translator
    from workflow_scripts.core.errors import InputError

    __version__: str

# Every public name, and the module that has it.
_HOMES = {
    "Paraphraser": "paraloom.paraphraser",
    "Request": "paraloom.requests",
    "Paraphrase": "paraloom.answers",
    "Paraphrases": "paraloom.answers",
    "Search": "paraloom.search",
    "Rewriter": "paraloom.rewriter",
    "Translator": "paraloom.translator",
    "Translation": "paraloom.answers",
    "Translations": "paraloom.answers",
    "score": "paraloom.scoring",
    "judge": "paraloom.scoring",
    "read": "paraloom.reading",
    "InputError": "workflow_scripts.core.errors",
    "ArgumentError": "paraloom.requests",
}
__all__ = [
    "ArgumentError",
    "InputError",
    "Paraphrase",
    "Paraphraser",
    "Paraphrases",
    "Request",
    "Rewriter",
    "Search",
    "Translation",
    "Translations",
    "Translator",
    "__version__",
    "judge",
    "read",
    "score",
]


def __getattr__(name: str) -> Any:
    """Return a public name, whose module is loaded now."""
    if name == "__version__":
        from workflow_scripts.core.version import version

        value: Any = version()
    elif name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module 'paraloom' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
