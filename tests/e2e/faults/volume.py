"""What a file system may hold after the power fails: only what was synced is sure.

The log of a run (power_log.c) is done again on a volume in memory, operation by operation. Each
file there has the bytes that programs see, and those that its last fsync made durable; each folder
the names that they see, and those that are durable. An operation on names (create, rename, unlink,
link) is durable once a folder that it changes is synced, and happens as a whole or not at all. That
is what POSIX promises, no more: file systems in use keep more, and in order.
"""

import os
import random
import stat
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from workflow_scripts.stages.train import work_folder

# What Sockeye renames in the model that it trains is never read after an interruption.
_SOCKEYES_OWN = f"/{work_folder.MODEL}/"
_HEAD = struct.Struct("=4I3q")


class Operation(NamedTuple):
    """One record of the log; `path` and `other` are relative to the root, None if outside of it."""

    kind: str
    path: str | None
    other: str | None
    offset: int
    modified: int
    data: bytes


def read_log(log: Path, root: Path) -> Iterator[Operation]:
    """Yield the operations of a log; what stands behind its last whole record is left out."""
    with log.open("rb") as stream:
        while len(head := stream.read(_HEAD.size)) == _HEAD.size:
            kind, first, second, _, offset, modified, length = _HEAD.unpack(head)
            names = [
                stream.read(size).decode("utf-8", "surrogateescape") for size in (first, second)
            ]
            data = stream.read(length)
            path, other = (_below(name, root) for name in names)
            if chr(kind) == "l":
                other = names[1]
            yield Operation(chr(kind), path, other, offset, modified, data)


def _below(name: str, root: Path) -> str | None:
    relative = os.path.relpath(name, root) if name else ".."
    return None if relative.startswith("..") else relative


@dataclass(eq=False)
class File:
    """A regular file: the bytes that programs see, and those that are durable (None: none are)."""

    data: bytes = b""
    durable: bytes | None = None
    modified: int = 0


@dataclass(eq=False)
class Link:
    """A symbolic link."""

    target: str
    modified: int = 0


@dataclass(eq=False)
class Folder:
    """A folder: names that programs see, and those that are durable."""

    names: dict[str, "Node"] = field(default_factory=dict)
    durable: dict[str, "Node"] = field(default_factory=dict)
    modified: int = 0


Node = File | Link | Folder
Change = tuple[Folder, str, Node | None]
# Paths with what is there: a file, a link, or a folder.
Tree = dict[str, Node]


class Volume:
    """A folder and all below it.

    Args:
        folder: what there is at first, all of it durable.

    Attributes:
        published: files that something speaks for, by its path: a folder that was renamed into its
            place, or the file FINISHED of a training, for its model.
    """

    def __init__(self, folder: Path):
        self.root = _durable(folder)
        self.published: dict[str, dict[str, bytes]] = {}
        self._pending: list[list[Change]] = []

    # --- what programs do --------------------------------------------------------------------

    def apply(self, operation: Operation) -> None:
        """Do an operation of the log.

        Raises:
            ValueError: it does not fit what was done before, so the log lacks something.
        """
        try:
            _DO[operation.kind](self, operation)
        except (KeyError, AttributeError, TypeError) as error:
            raise ValueError(f"{operation[:4]} does not fit the log before it") from error

    def _node(self, path: str) -> Node:
        node: Node = self.root
        for part in Path(path).parts:
            node = node.names[part]
        return node

    def _parent(self, path: str) -> tuple[Folder, str]:
        parent, name = os.path.split(path)
        return self._node(parent), name

    def _change(self, *changes: Change) -> None:
        for folder, name, node in changes:
            if node is None:
                del folder.names[name]
            else:
                folder.names[name] = node
        self._pending.append(list(changes))

    def _open(self, operation: Operation) -> None:
        folder, name = self._parent(operation.path)
        if name not in folder.names:
            self._change((folder, name, File()))
        file = folder.names[name]
        if operation.kind == "T":
            file.data = b""
        file.modified = operation.modified

    def _write(self, operation: Operation) -> None:
        file, end = self._node(operation.path), operation.offset + len(operation.data)
        before = file.data[: operation.offset].ljust(operation.offset, b"\0")
        file.data = before + operation.data + file.data[end:]
        file.modified = operation.modified

    def _replace_content(self, operation: Operation) -> None:
        file = self._node(operation.path)
        file.data, file.modified = operation.data, operation.modified

    def _truncate(self, operation: Operation) -> None:
        file = self._node(operation.path)
        file.data = file.data[: operation.offset].ljust(operation.offset, b"\0")
        file.modified = operation.modified

    def _sync(self, operation: Operation) -> None:
        if operation.path != ".":
            self._see(operation.path)
        node = self._node(operation.path)
        if isinstance(node, File):
            node.durable = node.data
            return
        ours = [
            changes for changes in self._pending if any(folder is node for folder, *_ in changes)
        ]
        for changes in ours:
            _make_durable(changes)
        self._pending = [changes for changes in self._pending if changes not in ours]

    def _rename(self, operation: Operation) -> None:
        if operation.path is None or operation.other is None:
            raise ValueError(f"{operation[:3]}: moved over the edge of the logged folder")
        folder, name = self._parent(operation.path)
        target, other = self._parent(operation.other)
        node = folder.names[name]
        if target.names.get(other) is not node:
            self._change((folder, name, None), (target, other, node))
        if _SOCKEYES_OWN in operation.other:
            return
        if isinstance(node, Folder):
            self.published[operation.other] = dict(self._files(operation.other))
        elif other == work_folder.FINISHED:
            model = str(Path(operation.other).with_name(work_folder.MODEL))
            self.published[operation.other] = dict(self._files(model))

    def _files(self, folder: str) -> Iterator[tuple[str, bytes]]:
        for path, node in _walk(self._node(folder), lambda each: each.names, f"{folder}/"):
            if isinstance(node, File):
                yield path, node.data

    def _unlink(self, operation: Operation) -> None:
        self._see(operation.path)
        self._change((*self._parent(operation.path), None))

    def _see(self, path: str) -> None:
        """Do a rename past the C library, as safetensors does it of its temporary file."""
        folder, name = self._parent(path)
        temporary = [each for each in folder.names if each.startswith(".tmp")]
        if name not in folder.names and len(temporary) == 1:
            node = folder.names[temporary[0]]
            self._change((folder, temporary[0], None), (folder, name, node))

    def _make_folder(self, operation: Operation) -> None:
        self._change((*self._parent(operation.path), Folder(modified=operation.modified)))

    def _link(self, operation: Operation) -> None:
        self._change((*self._parent(operation.path), Link(operation.other, operation.modified)))

    def _hard_link(self, operation: Operation) -> None:
        self._change((*self._parent(operation.other), self._node(operation.path)))

    def _touch(self, operation: Operation) -> None:
        self._node(operation.path).modified = operation.modified

    def lost(self, tree: Tree) -> list[str]:
        """Return files that are not whole in what is left, although what speaks for them is there.

        Files that were changed or removed since then may be in any state.
        """
        return [
            f"{path}, for which {speaker} speaks"
            for speaker, files in self.published.items()
            if speaker in tree
            for path, data in files.items()
            if self._has(path, data) and getattr(tree.get(path), "data", None) != data
        ]

    def _has(self, path: str, data: bytes) -> bool:
        try:
            return self._node(path).data == data
        except (KeyError, AttributeError):
            return False

    # --- what is left ------------------------------------------------------------------------

    def seen(self) -> Tree:
        """Return all that programs see."""
        return dict(_walk(self.root, lambda folder: folder.names))

    def after(self, crash: "Crash", chance: random.Random) -> Tree:
        """Return all that is left after a crash; `chance` draws what it leaves to chance."""
        if crash.names == "synced":
            kept = {}
        elif crash.names == "all":
            kept = self._surviving(self._pending)
        else:
            kept = self._surviving([each for each in self._pending if chance.random() < 0.5])
        ends: dict[int, File] = {}
        tree: Tree = {}
        for path, node in _walk(self.root, lambda folder: kept.get(id(folder), folder.durable)):
            if isinstance(node, File):
                if id(node) not in ends:
                    ends[id(node)] = File(_left(node, crash.data, chance), None, node.modified)
                tree[path] = ends[id(node)]
            else:
                tree[path] = node
        return tree

    def _surviving(self, pending: list[list[Change]]) -> dict[int, dict[str, Node]]:
        names: dict[int, dict[str, Node]] = {}
        for changes in pending:
            for folder, name, node in changes:
                _set(names.setdefault(id(folder), dict(folder.durable)), name, node)
        return names


class Crash(NamedTuple):
    """What a file system loses.

    Attributes:
        name: for the table.
        names: which changes of names are left: `synced` ones, `all`, or `some`, drawn each.
        data: what is left of bytes that were not synced: `none`, `half`, `zeros` in their
            place, `all`, or `some` of these, drawn for each file.
    """

    name: str
    names: str
    data: str


CRASHES = (
    Crash("all that was not synced is lost", "synced", "none"),
    Crash("names are kept, data not synced is lost", "all", "none"),
    Crash("names are kept, data not synced is cut in half", "all", "half"),
    Crash("names are kept, data not synced is zeros", "all", "zeros"),
    Crash("of names and data not synced, some is lost", "some", "some"),
    Crash("some names are lost, data is kept", "some", "all"),
)


def _left(file: File, data: str, chance: random.Random) -> bytes:
    durable = file.durable or b""
    if file.durable == file.data:
        return file.data
    if data == "some":
        data = chance.choice(("none", "half", "zeros", "all"))
    if data == "all":
        return file.data
    if data == "none":
        return durable
    # What was synced and not written again since then is safe.
    same = _common(durable, file.data)
    if data == "half":
        return file.data[: (same + len(file.data)) // 2]
    return file.data[:same].ljust(len(file.data), b"\0")


def _common(first: bytes, second: bytes) -> int:
    """Return how many bytes two strings begin with alike."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _set(names: dict[str, Node], name: str, node: Node | None) -> None:
    if node is None:
        names.pop(name, None)
    else:
        names[name] = node


def _make_durable(changes: list[Change]) -> None:
    for folder, name, node in changes:
        _set(folder.durable, name, node)


def _walk(folder: Folder, names: Callable[[Folder], dict[str, Node]], path: str = "") -> Iterator:
    for name, node in names(folder).items():
        below = f"{path}{name}"
        yield below, node
        if isinstance(node, Folder):
            yield from _walk(node, names, f"{below}/")


def _durable(path: Path) -> Node:
    found = path.lstat()
    if path.is_symlink():
        return Link(str(path.readlink()), found.st_mtime_ns)
    if stat.S_ISDIR(found.st_mode):
        names = {each.name: _durable(each) for each in path.iterdir()}
        return Folder(names, dict(names), found.st_mtime_ns)
    content = path.read_bytes()
    return File(content, content, found.st_mtime_ns)


_DO: dict[str, Callable[[Volume, Operation], None]] = {
    "o": Volume._open,
    "T": Volume._open,
    "w": Volume._write,
    "c": Volume._replace_content,
    "t": Volume._truncate,
    "s": Volume._sync,
    "r": Volume._rename,
    "u": Volume._unlink,
    "d": Volume._make_folder,
    "l": Volume._link,
    "h": Volume._hard_link,
    "m": Volume._touch,
}


def write_tree(tree: Tree, folder: Path) -> None:
    """Write what is left as a real folder, with the times that files had."""
    folder.mkdir(parents=True)
    for path, node in tree.items():
        if isinstance(node, Folder):
            (folder / path).mkdir()
        elif isinstance(node, Link):
            (folder / path).symlink_to(node.target)
        else:
            (folder / path).write_bytes(node.data)
            os.utime(folder / path, ns=(node.modified, node.modified))
