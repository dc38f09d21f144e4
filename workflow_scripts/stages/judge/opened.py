"""A judge that is ready to judge texts: its file, the models of its features, and what it lacks.

Nothing here fits a judge, so nothing of what fitting needs is loaded.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import read_manifest, sha256
from workflow_scripts.core.text.closed_classes import FUNCTION_WORDS
from workflow_scripts.core.text.text_tokens import tokens
from workflow_scripts.encoding.interface import Encoder
from workflow_scripts.encoding.sentence_vectors import encoder_folder, load_encoder
from workflow_scripts.plan.catalogues.encoder_blocks import DEFAULT as DEFAULT_ENCODER
from workflow_scripts.plan.catalogues.judges import (
    DEFAULT,
    OTHER,
    SHIPPED,
    UNLABELLED,
    shipped_name,
)
from workflow_scripts.plan.catalogues.pair_features import COMPARED, ENCODER, ENGLISH, NEEDS
from workflow_scripts.stages.judge.features import Models, compute
from workflow_scripts.stages.judge.grammar.grammar_model import Grammar
from workflow_scripts.stages.judge.judge import Judge
from workflow_scripts.stages.judge.known_pairs import Pairs
from workflow_scripts.stages.judge.stage import GRAMMAR as RUN_GRAMMAR

# What `about` of a judge says of a grammar model of its own.
GRAMMAR = "grammar"
# Pairs that are judged together; memory does not grow with the files' features.
_CHUNK = 1024
# How chunks are worked on, each known by its first pair: `map`, or several at once.
AtWork = Callable[[Callable[[int], list[float]], Iterable[int]], Iterable[list[float]]]
# About half of the words of English text are function words; in other languages few look so.
_ENGLISH_SHARE, _ENOUGH_WORDS = 0.15, 20


def missing(judge: Judge, pairs: Pairs, models: Models) -> Iterator[str]:
    """Yield messages about the features of a judge that are unknown."""
    for name in judge.features:
        lacking = dict.fromkeys(
            "sources and the backward model" if need in COMPARED[1:] else need
            for need in NEEDS[name]
            if getattr(pairs, need, None) is None and getattr(models, need, None) is None
        )
        if lacking:
            yield f"missing feature: {name} (needs {', '.join(lacking)})"
    for column in ("forward_nll", "backward_nll"):
        values = getattr(pairs, column)
        if values is None:
            continue
        unknown = int(np.isnan(values).sum())
        if unknown:
            yield f"missing feature: {column} is unknown on {unknown} of {len(values)} lines"
        if not any(column in NEEDS[name] for name in judge.features):
            yield f"{column} is given, but this judge does not use it"


def not_english(references: Sequence[str]) -> bool:
    """Tell whether texts look as if they were not in English."""
    words = [token.lower() for text in references for token in tokens(text) if token[0].isalpha()]
    known = sum(word in FUNCTION_WORDS for word in words)
    return len(words) >= _ENOUGH_WORDS and known < _ENGLISH_SHARE * len(words)


def scores(
    judge: Judge, pairs: Pairs, models: Models, chunk_size: int = _CHUNK, at_work: AtWork = map
) -> Iterator[float]:
    """Yield the probability of each pair to be good.

    Args:
        judge: gives probabilities.
        pairs: of texts.
        models: of the judge's features.
        chunk_size: pairs that are judged together.
        at_work: how chunks are worked on.

    Raises:
        InputError: too little is known of a pair.
    """

    def of_chunk(start: int) -> list[float]:
        chunk = pairs.take(range(start, min(start + chunk_size, len(pairs))))
        features = compute(chunk, dict.fromkeys([*judge.features, "words"]), models)
        probabilities = judge.probability(features, features["words"])
        if np.isnan(probabilities).any():
            line = start + int(np.flatnonzero(np.isnan(probabilities))[0]) + 1
            raise InputError(
                f"line {line}: of this pair too little is known for the judge, which has the "
                f"features {', '.join(judge.features)}; give what they need"
            )
        return probabilities.tolist()

    return chain.from_iterable(at_work(of_chunk, range(0, len(pairs), chunk_size)))


def models_of(judge: Judge, encoder: Path | None, grammar: Path | None, device: str) -> Models:
    """Return the models of a judge's features.

    Without the encoder that `make setup` installs, its features are missing, and that is told.

    Raises:
        InputError: a model that was named can't be read, or is not the judge's.
    """
    needs = {need for name in judge.features for need in NEEDS[name]}
    models = Models(language=judge.language)
    if ENCODER in needs:
        models = replace(models, encoder=_encoder(judge, encoder, device))
    if GRAMMAR in needs:
        if grammar is None and (judge.language not in ENGLISH or GRAMMAR in judge.about):
            raise InputError(
                "this judge has a grammar model of its own; name its folder (--grammar)"
            )
        models = replace(models, grammar=Grammar.load(grammar or "english"))
    return models


def _knows(judge: Judge, language: str) -> bool:
    """Tell whether a judge is of a language; those that have one of ours may have two codes."""
    ours = shipped_name(language)
    return language == judge.language or (ours != OTHER and ours == shipped_name(judge.language))


def has_labels(judge: Judge, language: str | None) -> bool:
    """Tell whether a judge is fitted to labels of a language; else its numbers are an order.

    `other` has those of the languages with a judge of their own.
    """
    return judge.language != OTHER or shipped_name(language or OTHER) != OTHER


def judge_of(name: str, language: str | None) -> Judge:
    """Return the judge of references in a language; say on stderr where no label is in it.

    Args:
        name: `default`: the one of the language that ships, as a run has it; another one that
            ships, a folder with judge.json, or such a file.
        language: ISO 639; None: not known, so `default` is the English one.

    Raises:
        InputError: there is no such judge, or it knows another language.
    """
    own = shipped_name(language) if name == DEFAULT and language is not None else None
    judge = load_judge(own or name)
    if judge.language == OTHER:
        if language is not None and not has_labels(judge, language):
            print(UNLABELLED.format(language), file=sys.stderr)
    elif own is None and language is not None and not _knows(judge, language):
        raise InputError(
            f"the judge '{name}' knows references in '{judge.language}' only, not in '{language}'; "
            f"take '{DEFAULT}', or fit one of your own (paraloom judge fit, docs/judge.md)"
        )
    return judge


def load_judge(name: str) -> Judge:
    """Return a judge that knows whether its grammar model is one of a run.

    Its file does not say so, but the manifest of the run's unit, in the same folder.
    """
    judge, path = Judge.load(name), Path(name)
    manifest = (path if path.is_dir() else path.parent) / "manifest.json"
    if name in SHIPPED or not manifest.is_file():
        return judge
    read = read_manifest(manifest)["upstream"]
    own = [unit for unit in read if unit.startswith(f"judge/{RUN_GRAMMAR}/")]
    return replace(judge, about={**judge.about, GRAMMAR: {"name": own[0]}}) if own else judge


def _encoder(judge: Judge, folder: Path | None, device: str) -> Encoder | None:
    wanted = judge.about.get("encoder")
    if folder is None:
        if wanted != DEFAULT_ENCODER:
            raise InputError(
                f"this judge was fitted with the encoder '{(wanted or {}).get('name')}'; name its "
                "folder (--encoder)"
            )
        try:
            return load_encoder(encoder_of(None)[1], device)
        except InputError as error:
            print(f"missing encoder: {error}", file=sys.stderr)
            return None
    if wanted == DEFAULT_ENCODER:
        try:
            wanted = encoder_of(encoder_folder())[0]
        except InputError:  # it is not installed, so nothing tells its weights
            return load_encoder(folder, device)
    if encoder_of(folder)[0].get("weights") != (wanted or {}).get("weights"):
        raise InputError(f"{folder} is not the encoder that the judge was fitted with; name that")
    return load_encoder(folder, device)


def encoder_of(folder: Path | None) -> tuple[dict[str, Any], Path]:
    """Return what a judge keeps of an encoder, and its folder; None is the default.

    Raises:
        InputError: the default is not installed.
    """
    if folder is None:
        return dict(DEFAULT_ENCODER), encoder_folder()
    weights = sorted(
        path for path in folder.rglob("*") if path.suffix in (".safetensors", ".bin", ".pt")
    )
    if not weights:
        raise InputError(f"{folder} holds no weights of an encoder; name another folder")
    return {"name": folder.name, "weights": [sha256(path) for path in weights]}, folder
