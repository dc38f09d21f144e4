"""A translation model turned into one that reads the language that it writes.

Where both languages have one vocabulary, only the text model of the source is replaced. In a model
of Sockeye with two vocabularies the source side gets the target's, and its vectors of pieces as a
beginning: the encoder has never seen them and must learn to read them.
"""

import re
from pathlib import Path

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import copy_file, write_text
from workflow_scripts.core.files.model_folder import SETTINGS, SOCKEYE, model_files
from workflow_scripts.nmt.loaders import opened_model
from workflow_scripts.nmt.saving import save_model

_SOURCE, _TARGET = (f"embedding_{side}.embedding.weight" for side in ("source", "target"))
# The sizes of the source's vocabulary in a config of Sockeye.
_SIZES = (
    re.compile(r"^(vocab_source_size: )\d+$", re.MULTILINE),
    re.compile(r"^(config_embed_source: .*\n(?:  .*\n)*?  vocab_size: )\d+$", re.MULTILINE),
)


def write_monolingual(folder: Path, output: Path) -> None:
    """Write a model that reads the target language of the model in `folder`.

    Raises:
        InputError: the model can't be loaded, or has two vocabularies and is not one of Sockeye, or
            has languages to choose.
    """
    files = model_files(folder)
    if SETTINGS in files.configs:
        raise InputError(
            f"{folder}: a model whose languages are chosen ({SETTINGS}) can't be trained on, as "
            "its sources would be of another; take one of a single pair of languages"
        )
    opened = opened_model(folder, files)
    tensors = dict(opened.raw.tensors)
    one = list(opened.source_vocab) == list(opened.target_vocab)
    if not one and files.kind != SOCKEYE:
        raise InputError(
            f"{folder}: a model of {files.kind} with two vocabularies can't read its own target "
            "language; take one whose languages share a vocabulary, or train from scratch "
            "(`model` in place of `continued`)"
        )
    if not one:
        tensors[_SOURCE] = tensors[_TARGET].clone()
    save_model(folder, files, tensors, output)
    if not one:
        source, target = files.vocabularies
        copy_file(folder / target, output / source)
        config = output / files.configs[0]
        text = config.read_text(encoding="utf-8")
        for size in _SIZES:
            text = size.sub(rf"\g<1>{len(opened.target_vocab)}", text)
        write_text(config, text)
    if files.source_spm and files.target_spm and files.source_spm != files.target_spm:
        copy_file(folder / files.target_spm, output / files.source_spm)
