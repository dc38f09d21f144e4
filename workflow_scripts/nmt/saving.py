"""Writing of model folders: other parameters in the place of those that a folder has.

The folder that is written is of the same kind as the one it comes from, but for Marian's binary
format, in which a training keeps no model: it becomes .npz.
"""

from collections.abc import Mapping
from pathlib import Path

from torch import Tensor

from workflow_scripts.core.files.atomic import atomic_path, copy_file
from workflow_scripts.core.files.model_folder import ModelFiles
from workflow_scripts.nmt.loaders import LOADERS


def save_model(
    folder: Path, files: ModelFiles, tensors: Mapping[str, Tensor], output: Path
) -> list[str]:
    """Write a model folder with the text files of `folder` and these parameters.

    The shortlist is left out, as it belongs to what the model translated, and so are the notes on
    languages and licence.

    Args:
        folder: the model that the parameters were made from.
        files: of that folder.
        tensors: as `loaders.opened_model` names them.
        output: exists.

    Returns:
        The names of the files.
    """
    text = {files.source_spm, files.target_spm, *files.vocabularies, *files.configs} - {None}
    names = sorted(name for name in text if name is not None)
    for name in names:
        copy_file(folder / name, output / name)
    plain = {name: tensor.detach().cpu() for name, tensor in tensors.items()}
    weights, content = LOADERS[files.kind].saved(folder, files, plain)
    with atomic_path(output / weights) as temporary:
        temporary.write_bytes(content)
    return [weights, *names]
