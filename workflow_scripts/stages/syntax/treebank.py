"""Gold trees, and the text, labels and CoNLL-U that Stanza's trainers need, made of them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.syntax.trees import Tree, parse

# Tokens without a blank before them, and tokens without a blank after them.
_JOINED = re.compile(r"n't|['’]\w*|[^\w\s\"({\[“‘$#&*+=/<-]+", re.IGNORECASE)
_JOINING = re.compile(r"[(\[{“‘$#]")
# What the Penn Treebank writes for characters that it uses itself.
_ESCAPED = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
    "``": '"',
    "''": '"',
}


@dataclass(frozen=True, slots=True)
class Sentence:
    """A gold tree as the three trainers need it.

    Attributes:
        tree: with labels free of functions, without traces.
        tags: (word as it is written, part of speech) of each token.
    """

    tree: Tree
    tags: tuple[tuple[str, str], ...]


def read_trees(paths: Iterable[Path]) -> list[Tree]:
    """Read the trees of files in Penn Treebank brackets, on one line each or on many.

    Labels lose their functions (`NP-SBJ` -> `NP`). Empty elements are left out, and so are nodes
    above nothing else, and trees without any word.

    Raises:
        InputError: a file is missing, isn't UTF-8, or holds something that is no tree.
    """
    trees = []
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: can't be read as UTF-8 ({error})") from error
        for number, bracketed in enumerate(_split(text), 1):
            try:
                tree = _plain(parse(bracketed))
            except InputError as error:
                raise InputError(f"{path}, tree {number}: {error}") from error
            except RecursionError as error:
                raise InputError(f"{path}, tree {number}: too deep; take it out") from error
            if tree is not None:
                trees.append(tree)
    return trees


def _split(text: str) -> list[str]:
    """Split where all brackets are closed."""
    depth, start, parts = 0, 0, []
    for match in re.finditer(r"[()]", text):
        depth += 1 if match[0] == "(" else -1
        if depth <= 0:
            parts.append(text[start : match.end()])
            depth, start = 0, match.end()
    rest = text[start:]
    return [*parts, rest] if rest.strip() else parts


def _plain(tree: Tree) -> Tree | None:
    if tree.label == "-NONE-":
        return None
    label = tree.label if tree.label.startswith("-") else re.split(r"[-=|]", tree.label)[0]
    if tree.word is not None:
        return Tree(label or tree.label, word=tree.word)
    children = tuple(filter(None, map(_plain, tree.children)))
    return Tree(label or tree.label, children) if children else None


def sentence(tree: Tree) -> Sentence:
    """Return what the trainers need of a tree."""
    return Sentence(tree, tuple(_tags(tree)))


def _tags(tree: Tree) -> Iterable[tuple[str, str]]:
    if tree.word is not None:
        yield _ESCAPED.get(tree.word, tree.word), tree.label
    for child in tree.children:
        yield from _tags(child)


def spaces(words: list[str]) -> list[bool]:
    """Return for each token whether a blank stands before it in written English."""
    before = []
    quoted = False
    joining = True
    previous = ""
    for word in words:
        quote = word == '"'
        joined = joining or bool(_JOINED.fullmatch(word)) or (quote and quoted)
        joined |= (previous.lower(), word.lower()) == ("can", "not")  # "cannot" is two tokens
        before.append(not joined)
        quoted ^= quote
        joining = bool(_JOINING.fullmatch(word)) or (quote and quoted)
        previous = word
    return before


def written(sentence: Sentence) -> tuple[str, str]:
    """Return a sentence's text, and a label per character as Stanza's tokenizer learns it.

    2 at the end of the sentence, 1 at the end of any other token, 0 elsewhere.
    """
    words = [word for word, _ in sentence.tags]
    text, labels = "", ""
    for word, space in zip(words, spaces(words), strict=True):
        text += " " * space + word
        labels += "0" * (space + len(word) - 1) + "1"
    return text, labels[:-1] + "2"


def conllu(sentence: Sentence) -> str:
    """Return a sentence in CoNLL-U with its parts of speech as UPOS; the heads mean nothing."""
    lines = []
    for number, (word, tag) in enumerate(sentence.tags, 1):
        relation = "dep" if number > 1 else "root"
        columns = [str(number), word, "_", tag, "_", "_", str(number - 1), relation, "_", "_"]
        lines.append("\t".join(columns))
    return "\n".join(lines) + "\n\n"


def bracketed(tree: Tree) -> str:
    """Return a tree in Penn Treebank brackets."""
    if tree.word is not None:
        return f"({tree.label} {tree.word})"
    return f"({tree.label} {' '.join(map(bracketed, tree.children))})"
