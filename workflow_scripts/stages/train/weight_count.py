"""How many weights a model has, counted in its file."""

from pathlib import Path

from workflow_scripts.core.files.model_folder import model_files
from workflow_scripts.nmt.loaders import LOADERS

# In the names of tables of positions, which are not trained.
_POSITIONS = ("pos_embedding", "embed_positions", "position_encodings")


def count_parameters(folder: Path) -> int:
    """Return the number of trained weights of a model; tied ones count once.

    Raises:
        InputError: the file can't be read.
    """
    files = model_files(folder)
    trained = {
        tensor.data_ptr(): tensor.numel()
        for name, tensor in LOADERS[files.kind].stored(folder, files).items()
        if not any(positions in name for positions in _POSITIONS)
    }
    return sum(trained.values())
