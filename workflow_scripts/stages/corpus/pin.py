"""Pin what a run downloads: get every file once, and write its SHA-256 as a config file.

A corpus whose sha256 is null, or that names only its id in mtdata's index, is not read by
the pipeline: nobody could tell whether the next download is the same. Once pinned, it is verified
ever after. The same holds for models that are downloaded, from a url or from the Hugging Face hub.
"""

import shutil
import sys
from pathlib import Path
from typing import Any

import yaml

from workflow_scripts.core.cli import CommandParser, run
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.archive import expand, split
from workflow_scripts.core.files.atomic import leftovers, temporary_path, write_text
from workflow_scripts.core.files.input_files import as_list
from workflow_scripts.core.files.manifest import sha256
from workflow_scripts.core.files.paths import file_name
from workflow_scripts.plan import selection
from workflow_scripts.plan.config import Config
from workflow_scripts.plan.resolve import add_arguments, resolve
from workflow_scripts.stages.catalogue import validate
from workflow_scripts.stages.corpus.fetch import download, publish

_PATH_KEYS = ("source", "reference", "tsv", "text")


def obtain(url: str, downloads: Path, folder: Path | None) -> str:
    """Get a file into the folder of kept downloads, and return its SHA-256.

    Args:
        url: where it is.
        downloads: the folder of kept downloads.
        folder: a folder that may have the file already, under its name.

    Raises:
        InputError: see `fetch.download`.
    """
    name = file_name(url)
    unfinished = downloads / ".unpinned" / name
    unfinished.parent.mkdir(parents=True, exist_ok=True)
    for leftover in leftovers(unfinished):
        leftover.unlink(missing_ok=True)
    # Each call begins anew: without the hash nobody would notice that the bytes of an earlier call
    # are those of another file.
    part = temporary_path(unfinished)
    try:
        if folder and (folder / name).is_file():
            shutil.copyfile(folder / name, part)
        else:
            download(url, part)
        digest = sha256(part)
        publish(part, downloads / digest / name, url, digest)
    finally:
        part.unlink(missing_ok=True)
    print(f"{digest}  {url}", file=sys.stderr, flush=True)
    return digest


def _named_members(block: dict[str, Any], files: dict[str, Path]) -> dict[str, Any]:
    """Return the paths of a block; patterns are replaced by the members that they match.

    Raises:
        InputError: a pattern matches no member.
    """
    named = {}
    for key in _PATH_KEYS:
        members = []
        for path in as_list(block.get(key, [])):
            file, _, member = path.partition("/")
            for member_path in expand(str(files[file] / member)):
                archive, inner = split(member_path)
                members.append("/".join(filter(None, [archive.name, inner])))
        if members:
            named[key] = members[0] if len(members) == 1 else members
    return named


def pinned(name: str, block: dict[str, Any], config: Config, folder: Path | None) -> dict[str, Any]:
    """Return the keys of a corpus that were not known: url, sha256, and the paths in the files.

    Args:
        name: of the corpus, for messages.
        block: of the configuration.
        config: the whole configuration.
        folder: a folder that may have the files already.

    Raises:
        InputError: a file can't be downloaded, or is not what mtdata's index says.
    """
    override = {}
    if "url" not in block:
        # It needs 20 seconds to be imported for the first time (see there).
        from workflow_scripts.stages.corpus.mtdata_index import block_of, find

        sides = [config["languages"][side]["code"] for side in ("source", "reference")]
        override = block_of(find(block["mtdata"]), *sides)
        names = [file_name(url) for url in as_list(override["url"])]
        for key in override.keys() & set(_PATH_KEYS):
            paths = [path.format(*names) for path in as_list(override[key])]
            override[key] = paths if isinstance(override[key], list) else paths[0]
    urls = as_list(override.get("url") or block["url"])
    downloads = Path(config["downloads"])
    hashes = [obtain(url, downloads, folder) for url in urls]
    files = {
        file_name(url): downloads / digest / file_name(url)
        for url, digest in zip(urls, hashes, strict=True)
    }
    override["sha256"] = hashes if len(hashes) > 1 else hashes[0]
    try:
        return {**override, **_named_members(block | override, files)}
    except InputError as error:
        raise InputError(f"corpora.{name}: {error}") from error


def pinned_model(
    name: str, block: dict[str, Any], config: Config, folder: Path | None
) -> dict[str, Any]:
    """Return the keys of a model that were not known: sha256, and the revision on the hub.

    Raises:
        InputError: a file can't be downloaded.
    """
    downloads = Path(config["downloads"])
    if "url" in block:
        hashes = [obtain(url, downloads, folder) for url in as_list(block["url"])]
        return {"sha256": hashes if isinstance(block["url"], list) else hashes[0]}
    try:
        from workflow_scripts.stages.corpus.hub import fetch, folder_name, look
    except ModuleNotFoundError as error:
        raise InputError(
            f"models.{name}: to pin a model of the hub, the package {error.name} is needed; run "
            "this command after `make setup`, or in the environment of envs/text.yaml"
        ) from error

    path = block.get("path")
    revision = look(block["hub"], None, path).revision
    place = downloads / "hub" / folder_name(block["hub"]) / revision
    print(f"models.{name}: {block['hub']} at {revision}", file=sys.stderr, flush=True)
    return {"revision": revision, "sha256": fetch(block["hub"], revision, path, place)}


def pin(config: Config, folder: Path | None) -> dict[str, Any]:
    """Return an override of the configuration that pins the corpora and models of the run.

    Raises:
        InputError: see `pinned` and `pinned_model`.
    """
    override: dict[str, Any] = {}
    for name in selection.corpora(config):
        block = config["corpora"][name]
        if block.keys() & {"mtdata", "url"} and block.get("sha256") is None:
            override.setdefault("corpora", {})[name] = pinned(name, block, config, folder)
    roles = selection.model_roles(config)
    for name in dict.fromkeys(selection.role_model_name(config, role) for role in roles):
        block = config["models"][name]
        unknown = {"url": "sha256", "hub": "revision"}
        if any(key in block and block.get(other) is None for key, other in unknown.items()):
            override.setdefault("models", {})[name] = pinned_model(name, block, config, folder)
    return override


def main(argv: list[str] | None = None) -> None:
    """Get what a run downloads and write the SHA-256 of each file as a config file."""
    parser = CommandParser(description=main.__doc__)
    add_arguments(parser)
    parser.add_argument(
        "--from",
        dest="given",
        type=Path,
        metavar="FOLDER",
        help="folder with files that you have already, by the names they are downloaded under",
    )
    parser.add_argument("--output", type=Path, required=True, help="config file to write")
    arguments = parser.parse_args(argv)
    config = resolve(arguments.configfile, arguments.config)
    validate(config)
    override = pin(config, arguments.given)
    if not override:
        print("Nothing to pin: the sha256 of all that this run downloads is known.")
        return
    write_text(arguments.output, yaml.safe_dump(override, sort_keys=False))
    print(f"Wrote {arguments.output}: add it to --configfile, and keep it with your recipe.")


if __name__ == "__main__":
    run(main)
