"""The files of a finished model, from wherever they are, in one folder.

Nothing of them is run: a package is found by its metadata, and never imported.
"""

import shutil
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import IO, Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.archive import READ_ERRORS, names, open_member
from workflow_scripts.core.files.manifest import remedy, sha256
from workflow_scripts.core.files.model_folder import ARGOS, CT2_WEIGHTS, model_files, sorted_out
from workflow_scripts.core.files.packages import folder_in_package
from workflow_scripts.core.files.packed import suffix_of, unpacked
from workflow_scripts.core.files.seal import read_sealed

# Names of archives; other files are the model's own, perhaps packed one by one. Some files of
# models, .npz and weights of torch, are zip files and no archives.
_ARCHIVES = (
    *(".zip", ".argosmodel", ".tar", ".tgz", ".tar.gz", ".tbz2", ".tar.bz2", ".txz", ".tar.xz"),
    ".tar.zst",
)
_PACKED = (".gz", ".bz2", ".xz", ".zst")
_NOT_INSTALLED = (
    "install it there (with conda: name it in envs/nmt.yaml), or take the model from another "
    "place. Where it can't be had, recipes/testbed.yaml runs without it (docs/train.md)"
)


def gather(name: str, model: dict[str, Any], target: Path) -> None:
    """Copy the files of a finished model to the empty folder `target`.

    Args:
        name: what messages call the model.
        model: its settings: `folder`, `files` (downloads), `record` (of a download from the hub),
            or `package`.
        target: gets the files.

    Raises:
        InputError: there is no model, it is not the one that is meant, or it can't be read.
    """
    if "files" in model:
        _unpack(name, [Path(path) for path in model["files"]], model.get("path"), target)
        return
    folder = place(name, model)
    files = model_files(folder)
    for file in (*files.names, *files.about):
        shutil.copyfile(folder / file, target / PurePosixPath(file).name)
    check_hashes(name, model, target)


def place(name: str, model: dict[str, Any]) -> Path:
    """Return the folder in which a finished model stands that was not downloaded file by file.

    Args:
        name: what messages call the model.
        model: its settings: `folder`, `record`, or `package`, as `gather` takes them.

    Raises:
        InputError: there is no such package, or the download from the hub is damaged.
    """
    if "folder" in model:
        return Path(model["folder"])
    if "record" in model:
        return _from_hub(Path(model["record"])) / model.get("path", ".")
    return folder_in_package(name, model, _is_model, _NOT_INSTALLED)


def check_hashes(name: str, model: dict[str, Any], folder: Path) -> None:
    """Refuse a model whose files are not those of its settings.

    Args:
        name: what messages call the model.
        model: its settings; `sha256` maps the names of files to their hashes.
        folder: the files.

    Raises:
        InputError: a file is missing, or is another one.
    """
    for file, expected in (model.get("sha256") or {}).items():
        if not (folder / file).is_file():
            here = ", ".join(sorted(path.name for path in folder.iterdir()))
            raise InputError(f"{name}: sha256 names {file}, which the model does not have ({here})")
        if (actual := sha256(folder / file)) != expected:
            raise InputError(
                f"{name}: {file} has the SHA-256 {actual}, but the configuration says {expected}; "
                "look whether the file has changed at its source before you change the sha256"
            )


def _from_hub(record: Path) -> Path:
    """Return the folder of a download from the hub, after a look at all its files."""
    folder = record.with_suffix("")
    try:
        files = read_sealed(record)["files"]
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{record} is damaged ({error}); {remedy(record)}") from error
    there = {path.name: path for path in folder.rglob("*") if path.is_file()}
    for file, expected in files.items():
        if file not in there or sha256(there[file]) != expected:
            raise InputError(
                f"{folder}: {file} is not what was downloaded; delete {folder} and {record}, and "
                "run again"
            )
    return folder


def _is_model(files: Iterable[str]) -> bool:
    try:
        sorted_out(files, "")
    except InputError:
        return False
    return True


# --- downloads ------------------------------------------------------------------------------


def _unpack(name: str, paths: list[Path], inside: str | None, target: Path) -> None:
    """Copy downloaded files, unpacked, and the members of downloaded archives to `target`."""
    for path in paths:
        if path.name.lower().endswith(_ARCHIVES):
            _unpack_archive(name, path, inside, target)
        else:
            _unpack_file(path, target)


def _copy(stream: IO[bytes], path: Path) -> None:
    if path.exists():
        raise InputError(f"{path.name} is there twice; name it once in url")
    with path.open("wb") as output:
        shutil.copyfileobj(stream, output, 1 << 20)


def _unpack_file(path: Path, target: Path) -> None:
    with path.open("rb") as raw:
        suffix = suffix_of(raw.read(8))
        raw.seek(0)
        try:
            if suffix in _PACKED and path.name.endswith(suffix):
                with unpacked(raw, suffix) as stream:
                    _copy(stream, target / path.name.removesuffix(suffix))
            else:
                _copy(raw, target / path.name)
        except READ_ERRORS as error:
            raise InputError(
                f"{path}: can't be unpacked ({error}); delete it and its .json, and run again"
            ) from error


def _unpack_archive(name: str, path: Path, inside: str | None, target: Path) -> None:
    """Copy the model in an archive to `target`.

    Raises:
        InputError: it is damaged, it would write outside its folder, or holds no model or several.
    """
    members = names(path)
    outside = [member for member in members if member.startswith(("/", "../"))]
    if outside:
        raise InputError(
            f"{path}: {outside[0]} leads out of the archive; nothing of it was unpacked. Get the "
            "model from another place"
        )
    folders: dict[str, list[str]] = {}
    for member in members:
        parent = PurePosixPath(member).parent.as_posix()
        folders.setdefault(parent, []).append(PurePosixPath(member).name)
    of_packages = _packages(folders)
    if inside is None:
        models = [
            folder
            for folder, files in folders.items()
            if folder not in of_packages and _is_model(files)
        ]
        if len(models) > 1:
            raise InputError(
                f"{name}: {path.name} holds several models; name the folder of one as `path`: "
                f"{', '.join(models)}"
            )
        inside = models[0] if models else max(folders, key=lambda folder: len(folders[folder]))
    inside = PurePosixPath(inside).as_posix()
    if inside not in folders:
        raise InputError(
            f"{name}: {path.name} has no folder {inside}; it has {', '.join(sorted(folders))}"
        )
    files = sorted_out(folders[inside], f"{path}/{inside}")
    for file in (*files.names, *files.about):
        try:
            with open_member(path, str(PurePosixPath(inside) / file)) as stream:
                _copy(stream, target / PurePosixPath(file).name)
        except READ_ERRORS as error:
            raise InputError(
                f"{path}: {file} can't be unpacked ({error}); delete the archive and its .json, "
                "and run again"
            ) from error


def _packages(folders: dict[str, list[str]]) -> set[str]:
    """Add to each folder that is an Argos package the files of the folder in it; return those."""
    inner = {}
    for folder in folders:
        inside = (PurePosixPath(folder) / ARGOS).as_posix()
        if CT2_WEIGHTS in folders.get(inside, ()):
            inner[folder] = inside
    for folder, inside in inner.items():
        folders[folder] += [f"{ARGOS}/{file}" for file in folders[inside]]
    return set(inner.values())
