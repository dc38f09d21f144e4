"""The configuration of an encoder-decoder of Hugging Face, and what its class says beside it."""

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from workflow_scripts.core.config_size import require_bounded
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.json_text import parse_json
from workflow_scripts.core.files.model_folder import HUGGING_FACE, ModelFiles

SIDES = ("encoder", "decoder")
ACTIVATIONS = {"swish": "swish", "silu": "swish", "relu": "relu", "gelu": "gelu"}
_GENERATION = "generation_config.json"
_START = "decoder_start_token_id"
_IDS = ("pad_token_id", "bos_token_id", "eos_token_id", _START)
# What the searches of Hugging Face do by default, and ours never; values that change nothing.
_NOT_FOLLOWED: dict[str, tuple[object, ...]] = {
    "begin_suppress_tokens": ([],),
    "diversity_penalty": (0,),
    "encoder_no_repeat_ngram_size": (0,),
    "length_penalty": (1,),
    "min_length": (0,),
    "no_repeat_ngram_size": (0,),
    "num_beams": (1,),
    "repetition_penalty": (1,),
}
_COUNTS = (
    "d_model",
    "vocab_size",
    "max_position_embeddings",
    *(f"{side}_{what}" for side in SIDES for what in ("layers", "ffn_dim")),
    *(f"{side}_attention_heads" for side in SIDES),
    "decoder_vocab_size",
)


@dataclass(frozen=True)
class Family:
    """What the class of a `model_type` fixes, whatever the configuration says.

    `start`: the key of the piece that the decoder reads first, None if files differ in that;
    `pre_norm`: whether norms stand before the blocks, not behind them; `embedding_norm` and
    `final_norms`: whether there are norms of the embeddings, and behind the last layers; `learned`:
    whether positions are trained; `offset`: which of their table or formula is the first; `less`:
    the frequencies of computed ones have the step size / 2 - `less` (`positions.sinusoids`);
    `code`: what the names of languages look like, if sentences have them; `pad`: the id from which
    positions are counted, and which the pad must have for `offset`, None if they never are.
    """

    start: str | None
    pre_norm: bool
    embedding_norm: bool
    final_norms: bool
    learned: bool = False
    offset: int = 0
    less: int = 0
    code: str | None = None
    pad: int | None = None
    activations: tuple[str, ...] = tuple(ACTIVATIONS)


FAMILIES = {
    "bart": Family(
        "eos_token_id",
        pre_norm=False,
        embedding_norm=True,
        final_norms=False,
        learned=True,
        offset=2,
    ),
    "m2m_100": Family(
        "eos_token_id",
        pre_norm=True,
        embedding_norm=False,
        final_norms=True,
        offset=2,
        less=1,
        code="__[a-z]{2,3}__|[a-z]{3}_[A-Z][a-z]{3}",
        pad=1,
    ),
    "marian": Family(
        "pad_token_id",
        pre_norm=False,
        embedding_norm=False,
        final_norms=False,
        activations=("swish", "silu", "relu"),
    ),
    "mbart": Family(
        None,
        pre_norm=True,
        embedding_norm=True,
        final_norms=True,
        learned=True,
        offset=2,
        code="[a-z]{2,3}_[A-Z]{2}",
    ),
    "pegasus": Family("pad_token_id", pre_norm=True, embedding_norm=False, final_norms=True),
}


def read_object(path: Path) -> dict[str, Any]:
    """Return the JSON object of a file."""
    try:
        content = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as JSON: {error}") from error
    if not isinstance(content, dict):
        raise InputError(f"{path}: must be a JSON object")
    return content


def read_if_there(folder: Path, files: ModelFiles, name: str) -> dict[str, Any]:
    """Return the JSON object of one of a model's files, an empty one if it has no such file."""
    return read_object(folder / name) if name in files.configs else {}


def read_config(folder: Path, files: ModelFiles) -> dict[str, Any]:
    """Return the keys of a config; those that may be left out are filled in.

    Ids of pieces stand in generation_config.json if they don't in config.json. `suppressed` has
    those that it keeps out of outputs, `start_of` tells whether it has the decoder's first token.
    """
    path = folder / files.configs[0]
    config = read_object(path)
    require_bounded(config, str(path))
    generation = read_if_there(folder, files, _GENERATION)
    defaults = {
        "scale_embedding": config.get("model_type") == "m2m_100",
        "share_encoder_decoder_embeddings": True,
        "tie_word_embeddings": True,
    }
    if files.kind == HUGGING_FACE:
        defaults |= {"eos_token_id": 0}
    config = defaults | config
    config |= {key: generation.get(key) for key in _IDS if config.get(key) is None}
    suppressed: set[int] = set()
    start_of = ""
    if files.kind != HUGGING_FACE:
        if generation.get(_START) is not None:
            config[_START], start_of = generation[_START], f" of {_GENERATION}"
        phrases = _phrases(folder, files, config | generation, generation)
        suppressed = {phrase[0] for phrase in phrases if len(phrase) == 1}
    return {
        **config,
        "decoder_vocab_size": config.get("decoder_vocab_size") or config.get("vocab_size"),
        "suppressed": suppressed,
        "start_of": start_of,
    }


def _phrases(
    folder: Path, files: ModelFiles, settings: dict[str, Any], generation: dict[str, Any]
) -> list[list[int]]:
    """Return what no output may hold, by ids.

    Raises:
        InputError: it is no list of ids, or of lists of ids.
    """
    size = settings.get("vocab_size")
    if type(size) is not int:  # which is told elsewhere
        return []
    found: list[list[int]] = []
    for key, what in (("suppress_tokens", "ids"), ("bad_words_ids", "lists of ids")):
        value = settings.get(key)
        listed = [] if value is None else value
        if key == "suppress_tokens" and isinstance(listed, list):
            listed = [[row] for row in listed]
        if not isinstance(listed, list) or not all(
            isinstance(phrase, list) and all(type(row) is int and 0 <= row < size for row in phrase)
            for phrase in listed
        ):
            name = _GENERATION if key in generation else files.configs[0]
            raise InputError(
                f"{folder / name}: {key} is {str(value)[:40]}; it must be a list of {what} from 0 "
                f"to {size - 1}"
            )
        found += listed
    return found


def tell_what_is_not_followed(folder: Path, files: ModelFiles) -> None:
    """Print which settings of searches a folder has that ours do not follow, once a process."""
    settings = read_object(folder / files.configs[0])
    settings |= read_if_there(folder, files, _GENERATION)
    keys = [
        key
        for key, same in _NOT_FOLLOWED.items()
        if settings.get(key) is not None and settings[key] not in same
    ]
    if any(len(phrase) > 1 for phrase in settings.get("bad_words_ids") or []):
        keys.append("bad_words_ids of several tokens")
    if keys:
        _tell(f"{folder}: its settings of a search are not followed: {', '.join(keys)}")


@cache
def _tell(message: str) -> None:
    print(message, file=sys.stderr)


def not_supported(config: dict[str, Any], kind: str) -> list[str]:
    """Return which keys of a config are missing, or have values that are not supported."""
    types = [name for name in FAMILIES if (name == "marian") == (kind == HUGGING_FACE)]
    if config.get("model_type") not in types:
        shown = " or ".join(map(repr, types))
        if config.get("model_type") is None:
            return ["model_type is missing"]
        return [f"model_type is {config['model_type']!r}, supported is {shown}"]
    family = FAMILIES[config["model_type"]]
    allowed: dict[str, tuple[object, ...]] = {
        "activation_function": family.activations,
        "add_bias_logits": (False,),
        "add_final_layer_norm": (family.final_norms,),
        "is_encoder_decoder": (True,),
        "normalize_before": (family.pre_norm,),
        "normalize_embedding": (family.embedding_norm,),
        "quantization_config": (None,),
        "scale_embedding": (True, False),
        "share_encoder_decoder_embeddings": (True, False),
        "static_position_embeddings": (not family.learned,),
        "tie_word_embeddings": (True, False),
    }
    needed = [*_COUNTS, "activation_function", "pad_token_id", "eos_token_id"]
    if family.start is not None:
        allowed[_START] = (config.get(family.start),)
        needed += [_START]
    if family.pad is not None:
        allowed["pad_token_id"] = (family.pad,)
    reasons = [
        f"{key}{config['start_of'] * (key == _START)} is {config[key]!r}, supported is "
        f"{' or '.join(map(repr, values))}"
        for key, values in allowed.items()
        if key in config and config[key] not in values
    ]
    classes = config.get("architectures") or []
    classes = classes if isinstance(classes, list) else [classes]
    if kind != HUGGING_FACE and not all("ForConditionalGeneration" in str(c) for c in classes):
        reasons += [f"architectures is {classes!r}, supported are …ForConditionalGeneration"]
    reasons += [f"{key} is missing" for key in needed if config.get(key) is None]
    reasons += [
        f"{key} is {config[key]!r}; it must be a whole number of at least 1"
        for key in _COUNTS
        if config.get(key) is not None and not (type(config[key]) is int and config[key] > 0)
    ]
    reasons += [
        f"{key} is {config[key]!r}; it must be the id of a piece"
        for key in ("pad_token_id", "eos_token_id")
        if config.get(key) is not None and not (type(config[key]) is int and config[key] >= 0)
    ]
    if reasons:
        return reasons
    size = config["d_model"]
    return [
        f"{side}_attention_heads is {config[f'{side}_attention_heads']}, which must divide "
        f"d_model, {size}, an even number"
        for side in SIDES
        if size % config[f"{side}_attention_heads"] or size % 2
    ]
