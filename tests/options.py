"""Make the tables of options in docs anew from the schema: python -m tests.options.

A table stands between `<!-- options: embeddings.*.model -->` and `<!-- /options -->`, where
the path is that of a block of the configuration, and * is any name.
"""

import json
import re
from pathlib import Path
from typing import Any

from workflow_scripts.plan.schema import schema

DOCS = Path(__file__).resolve().parents[1] / "docs"
HEAD = "| key | default | meaning |\n|---|---|---|\n"
MARKED = re.compile(r"(<!-- options: (\S+) -->\n).*?(<!-- /options -->\n)", re.DOTALL)
# A key of the configuration with its block, or of several words; a page in a link is none.
_KEY = re.compile(r"(?<![\w/.(-])[a-z]+(?:[._][a-z_]+)+(?![\w/])")
Node = dict[str, Any]


def resolved(node: Node) -> Node:
    """Return a node, or what it refers to; keys that stand beside the reference win."""
    if "$ref" not in node:
        return node
    return resolved(schema()["$defs"][node["$ref"].removeprefix("#/$defs/")]) | node


def alternatives(node: Node) -> list[Node]:
    """Return the nodes that may hold in place of a node, or beside it."""
    found = [node[key] for key in ("then", "else") if key in node]
    for key in ("oneOf", "anyOf", "allOf"):
        found += node.get(key, [])
    return [each for one in map(resolved, found) for each in (one, *alternatives(one))]


def properties_at(path: str) -> dict[str, Node]:
    """Return the keys of the block at a path of the configuration, those of all its kinds."""
    blocks = [schema()]
    for name in path.split("."):
        inside = [_child(block, name) for block in blocks]
        found = [resolved(each) for each in inside if each is not None]
        blocks = [each for node in found for each in (node, *alternatives(node))]
    return {key: each for block in blocks for key, each in block.get("properties", {}).items()}


def _child(block: Node, name: str) -> Node | None:
    if name == "*":
        other = block.get("additionalProperties")
        return other if isinstance(other, dict) else None
    return block.get("properties", {}).get(name)


def spelt(default: Any) -> str:
    """Return a default as a cell."""
    if isinstance(default, str | list | dict):
        return "`" + json.dumps(default, ensure_ascii=False).replace('"', "") + "`"
    return json.dumps(default)


def cells(key: str, node: Node) -> tuple[str, str, str]:
    """Return the row of a key: its name, its default, and what it means."""
    node = resolved(node)
    text, _, left_out = node["description"].partition("; left out: ")
    default = spelt(node["default"]) if "default" in node else left_out
    # A page that a message names is a link here.
    text = _KEY.sub(r"`\g<0>`", re.sub(r"docs/([\w-]+)\.md", r"[\1](\1.md)", text))
    return f"`{key}`", default, text


def table(path: str) -> str:
    """Return the table of the block at a path."""
    rows = (cells(key, node) for key, node in properties_at(path).items())
    return HEAD + "".join(f"| {' | '.join(row)} |\n".replace("|  |", "| |") for row in rows)


def made_anew(page: Path) -> str:
    """Return the text of a page with its tables as the schema has them now."""
    itself = f" ([{page.stem}]({page.name}))"

    def anew(found: re.Match[str]) -> str:
        return f"{found[1]}\n{table(found[2]).replace(itself, '')}\n{found[3]}"

    return MARKED.sub(anew, page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    for each in DOCS.glob("*.md"):
        each.write_text(made_anew(each), encoding="utf-8")
