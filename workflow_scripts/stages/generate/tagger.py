"""Parts of speech of the words of a reference, by a Stanza package (ParaBank, 3.2).

The paper has spaCy's. Without a tagger a word counts as all that the dictionary has for it.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from workflow_scripts.stages.generate.parts_of_speech import coarse
from workflow_scripts.stages.syntax.parser_files import TAGGER_KEY, TAGGING, parser_files

# The coarse parts of speech that each word of a sentence has, by the word as it is written.
Tags = Mapping[str, frozenset[str]]
Tag = Callable[[str], Tags]


class Tagger:
    """A loaded Stanza package."""

    def __init__(self, folder: str | Path, language: str, package: str):
        """Load the tokenizer and the tagger of a package from a folder, without the network.

        They run on the CPU: one sentence at a time is little work beside its searches.

        Args:
            folder: as `stanza.download` or `syntax.train` fills it.
            language: code of the references' language.
            package: name of a package in the folder's `resources.json`.

        Raises:
            InputError: something is missing in the folder.
        """
        files = parser_files(str(folder), language, package, TAGGER_KEY, TAGGING)
        import stanza  # takes seconds: not before the folder is known to be good

        # Only some languages have multi-word tokens.
        processors = [
            name for name in TAGGING if any(file.startswith(f"{name}/") for file in files)
        ]
        self._pipeline = stanza.Pipeline(
            language,
            dir=str(folder),
            package=package,
            processors=",".join(processors),
            download_method=None,
            device="cpu",
            tokenize_no_ssplit=True,
            logging_level="WARN",
        )

    def tags(self, sentence: str) -> Tags:
        """Return the coarse parts of speech of each token of a sentence.

        A word that stands in it twice may have two; with another case it is another word. A word
        that Stanza cuts into other tokens has none here.
        """
        by_word: dict[str, set[str]] = {}
        for part in self._pipeline(" ".join(sentence.split())).sentences:
            for word in part.words:
                by_word.setdefault(word.text, set()).add(coarse(word.upos or word.xpos))
        return {word: frozenset(tags) for word, tags in by_word.items()}
