"""Which kind of translation model lies in a folder, and which files it consists of, by their names.

The Snakefile imports this module: only the standard library.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from workflow_scripts.core.errors import InputError

SOCKEYE = "Sockeye 3"
MARIAN_BINARY = "Marian .bin"
MARIAN_NPZ = "Marian .npz"
HUGGING_FACE = "Hugging Face Marian"
CTRANSLATE2 = "CTranslate2"
HUGGING_FACE_MORE = "Hugging Face M2M100, BART, PEGASUS"

# In the folder of a run these stand beside the model: the segmentation of the run's two languages,
# and the record of what was trained. No kind of model has files of these names.
OF_THE_RUN = ("source.model", "reference.model", "model.json")
# A JSON object of ours that a user may put into the folder: what is chosen of a model with several
# languages.
SETTINGS = "paraloom.json"

SOCKEYE_FILES = ("config", "params.best", "vocab.src.0.json", "vocab.trg.0.json")
_SOCKEYE_MORE = ("version", "args.yaml")
_HF_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
# Large ones come in parts, with an index of which tensor is in which part.
_HF_INDEX = {name: f"{name}.index.json" for name in _HF_WEIGHTS}
_HF_PART = re.compile(r"(pytorch_)?model-\d{5}-of-\d{5}\.(safetensors|bin)")
_HF_FILES = ("config.json", "source.spm", "target.spm", "vocab.json")
_HF_MORE = ("target_vocab.json", "tokenizer_config.json", "generation_config.json")
CT2_WEIGHTS = "model.bin"
_CT2_VOCABULARY = re.compile(r"(shared_|source_|target_)?vocabulary\.(json|txt)$")
# An Argos package has the model in this folder, and beside it the SentencePiece model.
ARGOS = "model"
# One of them is the model's tokenizer; vocab.json is BART's, with merges.txt, or M2M100's ids.
_HF_TEXT = ("tokenizer.json", "sentencepiece.bpe.model", "spiece.model", "merges.txt")
_HF_TOKENS = (*_HF_MORE[1:], "added_tokens.json", "special_tokens_map.json", *_HF_TEXT)
# They tell languages and licence; the model does not need them.
_ABOUT = ("README.md", "modelMeta.json", "model_info.json", "metadata.json")
_SIDES = {
    "source": re.compile(r"^(src|source)", re.IGNORECASE),
    "target": re.compile(r"^(trg|tgt|target)", re.IGNORECASE),
}
_LAYOUTS = (
    f"{SOCKEYE} has {', '.join(SOCKEYE_FILES)}; "
    f"{MARIAN_BINARY} has model*.bin and *.spm; "
    f"{MARIAN_NPZ} has model*.npz and *.spm; "
    f"{HUGGING_FACE} has {', '.join(_HF_FILES)} and {' or '.join(_HF_WEIGHTS)}; "
    f"{HUGGING_FACE_MORE} has config.json, {' or '.join(_HF_TEXT)}, and the same; "
    f"{CTRANSLATE2} has {CT2_WEIGHTS}, config.json and *_vocabulary.json"
)


@dataclass(frozen=True)
class ModelFiles:
    """The files of a model, by their names in its folder.

    `kind`: one of the kinds above; `weights`, or the index of the files of `parts`, which has them
    then; `source_spm` and `target_spm`: the SentencePiece models of the model's own source and
    target, which may be one file, or None (Sockeye, and CTranslate2 where none stands beside it),
    or another tokenizer in their place; `vocabularies`: maps from piece to id of source and target,
    if the kind has them; `shortlist`: None without one; `configs`: what else the model needs;
    `about`: what tells its languages and its licence, which is no part of it.
    """

    kind: str
    weights: str
    source_spm: str | None
    target_spm: str | None
    vocabularies: tuple[str, ...]
    shortlist: str | None
    configs: tuple[str, ...]
    about: tuple[str, ...]
    parts: tuple[str, ...] = ()

    @property
    def many_languages(self) -> bool:
        """Whether a model of this kind may have codes of languages for its two sides."""
        return self.kind in (HUGGING_FACE_MORE, CTRANSLATE2)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all files of the model, each once, sorted."""
        text = (self.source_spm, self.target_spm, self.shortlist)
        names = {self.weights, *self.parts, *self.vocabularies, *self.configs}
        return tuple(sorted(names | {name for name in text if name}))


def model_files(folder: Path) -> ModelFiles:
    """Return what the model in a folder consists of.

    Raises:
        InputError: as `sorted_out`; or the folder is not there, or can't be read.
    """
    try:
        names = [path.name for path in folder.iterdir() if path.is_file()]
        if (folder / ARGOS / CT2_WEIGHTS).is_file() and CT2_WEIGHTS not in names:
            names += [f"{ARGOS}/{path.name}" for path in (folder / ARGOS).iterdir()]
    except NotADirectoryError:
        if folder.suffix == ".argosmodel":
            raise InputError(
                f"{folder} is a packed Argos package (a zip): unpack it, and name the folder in it"
            ) from None
        raise InputError(f"{folder} is no folder: a model is a folder. {_LAYOUTS}") from None
    except FileNotFoundError:
        raise InputError(f"{folder} is no folder: correct the path. {_LAYOUTS}") from None
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}; let this user read it") from error
    return sorted_out(names, str(folder))


def sorted_out(names: Iterable[str], folder: str) -> ModelFiles:
    """Return what the model among files of these names consists of.

    Args:
        names: of all files in a folder (not below it).
        folder: its name, for messages.

    Raises:
        InputError: there is no model, or more than one, or a file is missing, or names do not tell
            which file is for which side.
    """
    files = set(names) - set(OF_THE_RUN)
    of_ctranslate2 = _is_ctranslate2(files)
    kinds = {
        kind: weights
        for kind, weights in (
            (SOCKEYE, sorted(files & set(SOCKEYE_FILES))),
            (CTRANSLATE2, sorted(of_ctranslate2)),
            (HUGGING_FACE, sorted(filter(_is_hugging_face, files - of_ctranslate2))),
            (MARIAN_BINARY, sorted(filter(_is_marian_binary, files - of_ctranslate2))),
            (MARIAN_NPZ, sorted(filter(_is_marian_npz, files))),
        )
        if weights
    }
    if len(kinds) > 1:
        several = "; ".join(f"{kind}: {', '.join(names)}" for kind, names in kinds.items())
        raise InputError(
            f"{folder} has files of more than one kind of model ({several}); "
            "leave those of one model there"
        )
    if SOCKEYE in kinds:
        return _sockeye(files, folder)
    if HUGGING_FACE in kinds:
        return _hugging_face(files, folder)
    if CTRANSLATE2 in kinds:
        return _ctranslate2(files, folder)
    for kind, weights in kinds.items():
        return _marian(kind, weights, files, folder)
    raise InputError(f"{folder} is no model folder that can be read: {_LAYOUTS}")


def _sockeye(files: set[str], folder: str) -> ModelFiles:
    _require(SOCKEYE, SOCKEYE_FILES, files, folder)
    config, weights, *vocabularies = SOCKEYE_FILES
    return ModelFiles(
        SOCKEYE,
        weights,
        None,
        None,
        tuple(vocabularies),
        None,
        (config, *_present((*_SOCKEYE_MORE, SETTINGS), files)),
        _present(_ABOUT, files),
    )


def _hugging_face(files: set[str], folder: str) -> ModelFiles:
    config, source, target, vocabulary = _HF_FILES
    text = _present(_HF_TEXT, files)
    kind = HUGGING_FACE_MORE if text and not files & {source, target} else HUGGING_FACE
    if not text and not files & {source, target}:
        raise InputError(
            f"{folder} has no tokenizer: {HUGGING_FACE} has {source}, {target} and {vocabulary}, "
            f"{HUGGING_FACE_MORE} has {' or '.join(_HF_TEXT)}; put those of the model there"
        )
    if kind == HUGGING_FACE:
        _require(kind, _HF_FILES, files, folder)
    weights, parts = _hugging_face_weights(kind, files, folder)
    if kind == HUGGING_FACE_MORE:
        _require(kind, (config,), files, folder)
        tokenizer = _tokenizer(kind, files, folder)
        assert tokenizer is not None
        return ModelFiles(
            kind,
            weights,
            tokenizer,
            tokenizer,
            _present((vocabulary,), files),
            None,
            (config, *_present((*_HF_TOKENS, SETTINGS), files - {tokenizer})),
            _present(_ABOUT, files),
            parts,
        )
    others = tuple(name for name in _HF_MORE if name in files and name != "target_vocab.json")
    return ModelFiles(
        HUGGING_FACE,
        weights,
        source,
        target,
        (vocabulary, *_present(("target_vocab.json",), files)),
        None,
        (config, *others, *_present((SETTINGS,), files)),
        _present(_ABOUT, files),
        parts,
    )


def _tokenizer(kind: str, files: set[str], folder: str) -> str | None:
    """Return the tokenizer that a model of Hugging Face has beside it, None if it has none."""
    name = next((name for name in _HF_TEXT if name in files), None)
    if name != "merges.txt":
        return name
    _require(kind, ("vocab.json",), files, folder)
    return "vocab.json"


def _hugging_face_weights(kind: str, files: set[str], folder: str) -> tuple[str, tuple[str, ...]]:
    """Return the file of the weights, or the index of weights in parts, and the parts."""
    if whole := _present(_HF_WEIGHTS, files):
        return whole[0], ()
    for weights, index in _HF_INDEX.items():
        stem, suffix = weights.split(".")
        pattern = re.compile(rf"{stem}-\d{{5}}-of-\d{{5}}\.{suffix}")
        parts = sorted(filter(pattern.fullmatch, files))
        if parts or index in files:
            of = parts[-1].rpartition("-of-")[2] if parts else f"N.{suffix}"
            count = int(of[:5]) if parts else 1
            names = tuple(f"{stem}-{number:05}-of-{of}" for number in range(1, count + 1))
            _require(kind, (index, *names), files, folder, "; the weights need all their parts")
            return index, names
    raise InputError(
        f"{folder} is no {kind} folder: {' or '.join(_HF_WEIGHTS)} missing (weights of other "
        "frameworks can't be read, nor an adapter without its model; write the whole with "
        "AutoModelForSeq2SeqLM.from_pretrained(…).save_pretrained(…))"
    )


def _is_hugging_face(name: str) -> bool:
    known = ("config.json", *_HF_WEIGHTS, *_HF_INDEX.values())
    return name in known or _HF_PART.fullmatch(name) is not None


def _is_ctranslate2(files: set[str]) -> set[str]:
    """Return the weights and the config of a model of CTranslate2, or nothing."""
    there = files & {CT2_WEIGHTS, f"{ARGOS}/{CT2_WEIGHTS}"}
    configs = files & {"config.json", f"{ARGOS}/config.json"}
    if not there or not (configs or any(map(_CT2_VOCABULARY.search, files))):
        return set()
    return there | configs


def _ctranslate2(files: set[str], folder: str) -> ModelFiles:
    inside = "" if CT2_WEIGHTS in files else f"{ARGOS}/"
    there = {
        side: sorted(
            name for name in files if re.fullmatch(rf"{inside}{side}_vocabulary\.(json|txt)", name)
        )
        for side in ("shared", "source", "target")
    }
    two = not there["shared"] and (there["source"] or there["target"])
    sides = ["source", "target"] if two else ["shared"]
    if missing := [f"{side}_vocabulary.json" for side in sides if not there[side]]:
        raise InputError(
            f"{folder} is no {CTRANSLATE2} folder of a translation model: {', '.join(missing)} "
            "missing (models without an encoder have vocabulary.json)"
        )
    source: str | None
    target: str | None
    if text := _tokenizer(CTRANSLATE2, files, folder):
        source = target = text
    else:
        names = sorted(name for name in files if name.endswith((".spm", ".model")))
        source, target = _sides(names, folder) if names else (None, None)
    more = ("merges.txt",) * (text == "vocab.json")
    more += ("tokenizer_config.json",) * (text in ("vocab.json", "tokenizer.json"))
    configs = (f"{inside}config.json", *more, SETTINGS)
    return ModelFiles(
        CTRANSLATE2,
        f"{inside}{CT2_WEIGHTS}",
        source,
        target,
        tuple(there[side][0] for side in sides),
        None,
        _present(configs, files),
        _present(_ABOUT, files),
    )


def _marian(kind: str, weights: list[str], files: set[str], folder: str) -> ModelFiles:
    source, target = _text_models(kind, weights[0], files, folder)
    shortlists = sorted(name for name in files if _is_shortlist(name))
    for what, names in (("weights", weights), ("shortlists", shortlists)):
        if len(names) > 1:
            raise InputError(
                f"{folder} has several {what}: {', '.join(names)}; leave one of them there"
            )
    return ModelFiles(
        kind,
        weights[0],
        source,
        target,
        (),
        shortlists[0] if shortlists else None,
        _present((SETTINGS,), files),
        _present(_ABOUT, files),
    )


def _text_models(kind: str, weights: str, files: set[str], folder: str) -> tuple[str, str]:
    """Return the SentencePiece models of source and target; one file may serve for both."""
    names = sorted(name for name in files if name.endswith(".spm"))
    if tables := sorted(name for name in files if re.search(r"vocab.*\.(ya?ml|fsv|txt)$", name)):
        raise InputError(
            f"{folder}: vocabularies such as {tables[0]} can't be read, only those that are "
            "SentencePiece models; OPUS-MT publishes its models as Hugging Face folders too"
        )
    if not names:
        raise InputError(
            f"{folder} is no {kind} folder: no SentencePiece model (*.spm); "
            "put the one that the model was trained with there"
        )
    if len(names) == 2 and (by_language := _by_direction(weights, names)) is not None:
        return by_language
    return _sides(names, folder)


def _sides(names: list[str], folder: str) -> tuple[str, str]:
    """Return which of some SentencePiece models is for the source, and which for the target."""
    if len(names) == 1:
        return names[0], names[0]
    sides = {
        side: [name for name in names if pattern.match(name)] for side, pattern in _SIDES.items()
    }
    if len(names) == 2 and all(len(of_side) == 1 for of_side in sides.values()):
        return sides["source"][0], sides["target"][0]
    raise InputError(
        f"{folder}: which of {', '.join(names)} is for the source, and which for the target? "
        "Name them source.spm and target.spm, or leave one of them there if it is for both"
    )


def _by_direction(weights: str, names: list[str]) -> tuple[str, str] | None:
    """Return vocab.xx.spm and vocab.yy.spm if the weights are named model.xxyy.*, else None."""
    languages = {
        match[1]: name for name in names if (match := re.search(r"\.(\w{2,3})\.spm$", name))
    }
    if len(names) != 2 or len(languages) != 2:
        return None
    parts = weights.split(".")
    one, other = languages
    for source, target in ((one, other), (other, one)):
        if source + target in parts:
            return languages[source], languages[target]
    return None


def _is_marian_binary(name: str) -> bool:
    others = (
        name.startswith("qualityModel") or _is_hugging_face(name) or name == "training_args.bin"
    )
    return name.endswith(".bin") and not others and not _is_shortlist(name)


def _is_marian_npz(name: str) -> bool:
    return name.endswith(".npz") and not name.endswith(".optimizer.npz")


def _is_shortlist(name: str) -> bool:
    return name.startswith("lex") and name.endswith(".bin")


def _require(
    kind: str, needed: Iterable[str], files: set[str], folder: str, more: str = ""
) -> None:
    if missing := [name for name in needed if name not in files]:
        raise InputError(f"{folder} is no {kind} folder: {', '.join(missing)} missing{more}")


def _present(names: Iterable[str], files: set[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name in files)
