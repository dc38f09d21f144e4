"""Download of one model from the Hugging Face hub: the files of one commit, each with its hash.

The folder of downloads keeps them in `hub/<owner>--<name>/<commit>/`; the record of that folder,
`<commit>.json` beside it, is written last. The variable HF_ENDPOINT names another server of the
same kind, and HF_TOKEN opens repositories that are not public, as in all of the hub's tools.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple

import httpx
from huggingface_hub import HfApi, errors, hf_hub_download

from workflow_scripts.core.command import command
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.files.file_lock import locked
from workflow_scripts.core.files.manifest import sha256
from workflow_scripts.core.files.model_folder import sorted_out
from workflow_scripts.core.files.seal import sealed
from workflow_scripts.plan.catalogues.encoder_blocks import encoder_files

_ADVICE = (
    "Look at the names, at the network and at HF_ENDPOINT; or download the files yourself and name "
    "their folder as `folder` (docs/train.md)"
)
_GATED = (
    "Its publisher gives it only to those who accept its terms: do so on its page, make a token "
    "there and set HF_TOKEN to it"
)


def folder_name(repository: str) -> str:
    """Return the name under which a repository OWNER/NAME is kept."""
    return repository.replace("/", "--")


class Commit(NamedTuple):
    """The model in one commit of a repository.

    `revision`: its 40 digits; `files`: names of the model's files in its folder, each with the
    SHA-256 that the hub tells, None for small files.
    """

    revision: str
    files: dict[str, str | None]


@contextmanager
def _explained(what: str) -> Iterator[None]:
    """Turn what the hub's library raises into an error that the user can mend."""
    try:
        yield
    except errors.GatedRepoError as error:
        raise InputError(f"{what}: {str(error).splitlines()[0]}. {_GATED}") from error
    except (errors.HfHubHTTPError, errors.HFValidationError, httpx.HTTPError, OSError) as error:
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise InputError(f"{what}: {reason[0]}. {_ADVICE}") from error


def look(
    repository: str, revision: str | None, path: str | None, encoder: str | None = None
) -> Commit:
    """Ask the hub for the files of a model; of the newest commit if no revision is given.

    Args:
        repository: OWNER/NAME.
        revision: the commit.
        path: the model's folder in the repository, if it is not its root.
        encoder: of an encoder of sentences the file that it must have, see `encoder_files`; None:
            it is a translation model.

    Raises:
        InputError: there is no such repository or commit, it holds no model that can be read, or
            the hub can't be reached.
    """
    with _explained(f"hub {repository}"):
        api = HfApi(endpoint=os.environ.get("HF_ENDPOINT"))
        info = api.model_info(repository, revision=revision, files_metadata=True)
    below = PurePosixPath(path or ".")
    by_name = {
        str(name.relative_to(below)): sibling.lfs.sha256 if sibling.lfs else None
        for sibling in info.siblings or []
        if (name := PurePosixPath(sibling.rfilename)).is_relative_to(below)
        and (encoder or name.parent == below)
    }
    if info.sha is None or (revision is not None and info.sha != revision):
        raise InputError(f"hub {repository}: {revision} is no commit, which is {info.sha}")
    where = f"hub {repository}, {info.sha}{f'/{path}' if path else ''}"
    if encoder:
        names = encoder_files(by_name, where, encoder)
    else:
        model = sorted_out(by_name, where)
        names = [*model.names, *model.about]
    return Commit(info.sha, {name: by_name[name] for name in names})


def fetch(
    repository: str, revision: str, path: str | None, folder: Path, encoder: str | None = None
) -> dict[str, str]:
    """Download the model of one commit, and write the record of its folder.

    Files that came in an earlier call are not asked for again. A connection that is cut is taken up
    again; in a later call such a file begins anew.

    Args:
        repository: OWNER/NAME.
        revision: the commit.
        path: the model's folder in the repository, if it is not its root.
        folder: where the files are kept.
        encoder: as in `look`.

    Returns:
        The SHA-256 of each file.

    Raises:
        InputError: as `look`; or a file is not the one that the hub names.
    """
    hashes = {}
    with locked(folder):
        commit = look(repository, revision, path, encoder)
        for name, expected in commit.files.items():
            print(f"hub {repository}: {name}", file=sys.stderr, flush=True)
            inside = str(PurePosixPath(path or ".") / name)
            with _explained(f"hub {repository}, {inside}"):
                hf_hub_download(
                    repository,
                    inside,
                    revision=revision,
                    local_dir=folder,
                    endpoint=os.environ.get("HF_ENDPOINT"),
                )
            hashes[name] = sha256(folder / inside)
            if expected is not None and hashes[name] != expected:
                (folder / inside).unlink()
                raise InputError(
                    f"hub {repository}, {inside}: what came has the SHA-256 {hashes[name]}, but "
                    f"the hub says {expected}; it was thrown away, run again"
                )
        size = sum((folder / (path or ".") / name).stat().st_size for name in hashes)
        record = {"files": hashes, "bytes": size, "url": f"hub:{repository}@{revision}"}
        write_json(folder.with_name(f"{folder.name}.json"), sealed(record))
    return hashes


def download_model(
    repository: str,
    revision: str,
    output: Path,
    path: str | None = None,
    encoder: Literal["modules.json", "config.json"] | None = None,
) -> None:
    """Download one model from the Hugging Face hub.

    Args:
        repository: OWNER/NAME.
        revision: its commit.
        output: the record, <commit>.json.
        path: the model's folder in the repository, if it is not its root.
        encoder: it is an encoder of sentences, which must have this file.
    """
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    fetch(repository, revision, path, output.with_suffix(""), encoder)


main = command(download_model, __name__)
