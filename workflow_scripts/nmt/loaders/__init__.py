"""Reading of model folders: each kind of folder has a loader, and all loaders lead to a `Model`.

A loader is a module with `opened(folder, files)`, which returns the parameters and the vocabularies
of both sides, `stored(folder, files)`, which returns parameters as they are in the file,
`saved(folder, files, tensors)`, which returns the file of other ones in their place, and
`summary(folder, files)`, which says what `paraloom inspect` prints of a model. Each raises an
`InputError` where a file is missing or broken; `opened` also where parts are not supported.
"""

from dataclasses import replace
from pathlib import Path
from types import ModuleType

from workflow_scripts.core.device import choose_device
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.model_folder import (
    CTRANSLATE2,
    HUGGING_FACE,
    HUGGING_FACE_MORE,
    MARIAN_BINARY,
    MARIAN_NPZ,
    SOCKEYE,
    ModelFiles,
    model_files,
)
from workflow_scripts.core.files.rewriter_card import read_prefix
from workflow_scripts.nmt.loaders import ctranslate2, hugging_face, marian, sockeye3
from workflow_scripts.nmt.loaders.description import Opened
from workflow_scripts.nmt.memory import bound_compiled_products, keep_freed_memory
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.network import Network
from workflow_scripts.nmt.precision import PRECISIONS
from workflow_scripts.nmt.shortlist import Shortlist, read_shortlist
from workflow_scripts.nmt.target_tag import read_tag

LOADERS: dict[str, ModuleType] = {
    SOCKEYE: sockeye3,
    MARIAN_BINARY: marian,
    MARIAN_NPZ: marian,
    HUGGING_FACE: hugging_face,
    CTRANSLATE2: ctranslate2,
    HUGGING_FACE_MORE: hugging_face,
}
# Their loaders read what the user chooses of a model with several languages.
_WITH_LANGUAGES = (HUGGING_FACE, HUGGING_FACE_MORE, CTRANSLATE2)


def load_model(
    folder: str | Path, device: str = "auto", precision: str = "fp32", *, shortlist: bool = False
) -> Model:
    """Load a model folder.

    Args:
        folder: of one of the kinds in LOADERS.
        device: `auto`, `cpu` or `cuda`.
        precision: `fp32` or `bf16`; on a CPU also `int8`.
        shortlist: whether the folder's lexical shortlist is read, which restricts the searches.

    Raises:
        InputError: a file is missing or broken, the model has parts that are not supported, or
            the device has no such precision.
    """
    folder = Path(folder)
    if precision not in PRECISIONS:
        raise InputError(f"precision {precision!r}: use one of {', '.join(PRECISIONS)}")
    files = model_files(folder)
    raw, source_vocab, target_vocab, network = opened_model(folder, files)
    network = network or raw.build(raw.tensors)
    if files.kind not in _WITH_LANGUAGES:
        network.marks = replace(network.marks, first=read_tag(folder, files, source_vocab))
    allowed = _shortlist(folder, files, network) if shortlist else None
    chosen, how = choose_device(device), PRECISIONS[precision]
    how.check(chosen)
    if chosen.type == "cpu":
        keep_freed_memory()
        bound_compiled_products()
    return Model(
        network.to(chosen, how),
        source_vocab,
        target_vocab,
        source_spm=_path(folder, files.source_spm),
        target_spm=_path(folder, files.target_spm),
        shortlist=allowed,
        precision=how,
        prefix=read_prefix(folder),
    )


def opened_model(folder: Path, files: ModelFiles) -> Opened:
    """Return the parameters of a model as its file has them, with its vocabularies.

    Raises:
        InputError: as `load_model`.
    """
    return LOADERS[files.kind].opened(folder, files)


def _path(folder: Path, name: str | None) -> Path | None:
    return None if name is None else folder / name


def _shortlist(folder: Path, files: ModelFiles, network: Network) -> Shortlist:
    if files.shortlist is None:
        raise InputError(
            f"{folder} has no shortlist (lex*.bin); put it there, or do without a shortlist"
        )
    source, target = len(network.source.pieces), len(network.target.pieces)
    return read_shortlist(folder / files.shortlist, source - marian.MOVED, target - marian.MOVED)
