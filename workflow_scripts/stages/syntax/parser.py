"""Constituency trees of sentences by Stanza: tokenizer, tagger and parser of one package."""

from pathlib import Path

from workflow_scripts.core.device import choose_device
from workflow_scripts.stages.syntax.parser_files import parser_files


class Parser:
    """A loaded Stanza package."""

    def __init__(
        self, folder: str | Path, language: str, package: str, device: str = "auto", batch: int = 64
    ):
        """Load a package from a folder, without the network.

        Args:
            folder: as `stanza.download` or `syntax.train` fills it.
            language: code of the sentences' language.
            package: name of a package in the folder's `resources.json`.
            device: cpu, cuda, or auto.
            batch: sentences that are tagged or parsed at once.

        Raises:
            InputError: something is missing in the folder.
        """
        parser_files(str(folder), language, package)
        import stanza  # takes seconds: not before the folder is known to be good

        self._pipeline = stanza.Pipeline(
            language,
            dir=str(folder),
            package=package,
            processors="tokenize,pos,constituency",
            download_method=None,
            device=str(choose_device(device)),
            tokenize_no_ssplit=True,
            pos_batch_size=batch,
            constituency_batch_size=batch,
            logging_level="WARN",
        )

    def parse(self, texts: list[str]) -> list[str | None]:
        """Return the tree of each text in Penn Treebank brackets; a text is one sentence.

        None for a text without a token, or for which the parser finds no whole tree.
        """
        result: list[str | None] = [None] * len(texts)
        # A line feed would end the sentence.
        lines = {place: " ".join(text.split()) for place, text in enumerate(texts)}
        places = [place for place, line in lines.items() if line]
        for place, tree in zip(
            places, self._trees([lines[place] for place in places]), strict=True
        ):
            result[place] = tree
        return result

    def _trees(self, lines: list[str]) -> list[str | None]:
        if not lines:
            return []
        try:
            documents = self._pipeline.bulk_process(lines)
        except AssertionError:
            # Stanza leaves out a tree that it can't finish, and then finds too few trees.
            if len(lines) == 1:
                return [None]
            middle = len(lines) // 2
            return self._trees(lines[:middle]) + self._trees(lines[middle:])
        # Tokens have blanks in some languages; brackets can't, so blanks become underscores.
        return [
            f"{document.sentences[0].constituency:_O}" if document.sentences else None
            for document in documents
        ]
