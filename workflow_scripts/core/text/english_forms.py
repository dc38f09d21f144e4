"""lemminflect's dictionary of the forms of English words, without spaCy.

Where spaCy is installed lemminflect imports it, and with it torch, to give its tokens more methods.
Nothing here calls them, and most jobs that read the dictionary need neither.
"""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType

__all__ = ["getAllInflections", "getAllLemmas"]


class _WithoutSpacy(MetaPathFinder):
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        if name == "spacy":
            raise ModuleNotFoundError("lemminflect goes without it", name=name)


_refuse = _WithoutSpacy()
sys.meta_path.insert(0, _refuse)
try:
    from lemminflect import getAllInflections, getAllLemmas
finally:
    sys.meta_path.remove(_refuse)
