"""Judge a rewriter by its held-out references: greedy search, and a beam.

One sentence is read for each held-out reference. All figures are of the best output.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU

from workflow_scripts.core.command import command
from workflow_scripts.core.device import Device, choose_device
from workflow_scripts.core.files.atomic import write_json, write_text
from workflow_scripts.core.files.manifest import shard_paths, verify, write_record
from workflow_scripts.core.files.rows import PairRow, Side
from workflow_scripts.core.files.shard_frame import Input
from workflow_scripts.core.progress import progress
from workflow_scripts.core.seeding import fraction
from workflow_scripts.core.statistics.bootstrap import interval, resampled
from workflow_scripts.core.statistics.rounding import DECIMALS
from workflow_scripts.core.text.normalisation import letters_and_digits, words
from workflow_scripts.encoding.sentence_vectors import encoder_folder, load_encoder
from workflow_scripts.nmt.beam import BeamRequest, translate
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.pieces import source_coder, target_coder
from workflow_scripts.plan.catalogues.pair_features import ENGLISH
from workflow_scripts.plan.catalogues.rewriters import TEST, reference_id
from workflow_scripts.stages.evaluate.diversity import ORDERS, bleu_counts, one_minus_bleu, sentence
from workflow_scripts.stages.evaluate.modified_bleu import modified_bleu
from workflow_scripts.stages.judge.features import FEATURES, Models
from workflow_scripts.stages.judge.known_pairs import Pairs
from workflow_scripts.stages.rewrite.results import FIGURES, MEASURES
from workflow_scripts.stages.rewrite.syntax_templates import prefixed
from workflow_scripts.testbed.checker import Checker

_BATCH_ROWS = 256
_SIDES: tuple[Side, Side] = ("source", "reference")

# Columns of one sentence, whose sums over sentences give every figure.
_COUNTS = ("sentences", "empty", "copies", "words_read", "words_written")
Sums = NDArray[np.float64]
Scores = Callable[[Sequence[tuple[str, str]]], NDArray[np.float64]]


@dataclass(frozen=True)
class HeldOut:
    """A sentence that is read, and all that was written for it in the pairs."""

    id: str
    text: str
    written: list[str]


def held_out(rows: Iterable[PairRow], seed: int) -> list[HeldOut]:
    """Return a sentence of each held-out reference, in the order of their ids.

    Where a reference has several, as one that is written has, it is drawn by the seed.
    """
    by_reference: dict[str, dict[str, list[PairRow]]] = {}
    for row in rows:
        if row["corpus"] == TEST:
            texts = by_reference.setdefault(reference_id(row["id"]), {})
            texts.setdefault(row["source"], []).append(row)
    sentences, seen = [], set[str]()
    for identifier, texts in sorted(by_reference.items()):
        # No two held-out references share a text that is read or written (`training_pairs.draw`).
        pairs = [row for of_text in texts.values() for row in of_text]
        keys = {letters_and_digits(row[side]) for row in pairs for side in _SIDES}
        if not seen.isdisjoint(keys):  # the same reference, under another id
            continue
        chosen = min(texts, key=lambda text: (fraction(seed, "measured", text), text))
        seen.update(keys)
        sentences.append(HeldOut(identifier, chosen, [row["reference"] for row in texts[chosen]]))
    return sentences


def rewritten(model: Model, folder: Path, texts: Sequence[str], beam: int) -> list[str]:
    """Return the best output for each text, empty where the search finds none.

    Args:
        model: the rewriter.
        folder: its folder, with the SentencePiece models of both sides.
        texts: what is read.
        beam: hypotheses of a sentence; 1 is greedy search.
    """
    source = source_coder(model, folder / "source.model")
    target = target_coder(model, folder / "reference.model")
    requests = (BeamRequest(source.encode(text)) for text in texts)
    results = translate(model, requests, beam_size=beam, batch_rows=max(_BATCH_ROWS, beam))
    shown = progress(results, len(texts), f"rewrite: beam {beam}")
    return [target.decode(result.outputs[0]) if result.outputs else "" for result in shown]


def meaning_scores(language: str, device: str) -> Scores | None:
    """Return the cosine of two sentences by the encoder that is installed, which knows English."""
    if language not in ENGLISH:
        return None
    models = Models(encoder=load_encoder(encoder_folder(), device))

    def scores(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        first, second = zip(*pairs, strict=True)
        return FEATURES["cosine"].compute(Pairs(list(first), list(second)), models)

    return scores


def columns(
    sentences: Sequence[HeldOut],
    outputs: Sequence[str],
    scores: Scores | None,
    checker: Checker | None,
) -> dict[str, Sums]:
    """Return what is counted of each sentence, by name: shape (sentences,) or (sentences, n)."""
    pairs = list(zip((held.text for held in sentences), outputs, strict=True))
    written = np.array([bool(output) for output in outputs])
    counted: dict[str, Any] = {name: [] for name in _COUNTS}
    counted |= {"own": [], "paraphrases": []}
    metric = BLEU(effective_order=True)
    for held, output in zip(sentences, outputs, strict=True):
        copy = letters_and_digits(held.text) == letters_and_digits(output)
        counts = (1, not output, copy, len(words(held.text)), len(words(output)))
        for name, count in zip(_COUNTS, counts, strict=True):
            counted[name].append(count)
        counted["own"].append(bleu_counts(sentence(held.text), sentence(output)).ravel())
        score = metric.sentence_score(output, held.written)
        counted["paraphrases"].append([*score.counts, *score.totals, score.sys_len, score.ref_len])
    if scores is not None:
        cosines = np.zeros(len(pairs))
        if written.any():
            cosines[written] = scores([pair for pair in pairs if pair[1]])
        counted |= {"scored": written, "cosine": cosines}
    if checker is not None:
        known = np.array([bool(checker.parse(text)) for text, _ in pairs])
        exact = [checker.same_meaning(*pair) for pair in pairs]
        counted |= {"known": known, "exact": known & np.array(exact, bool)}
    return {name: np.asarray(values, np.float64) for name, values in counted.items()}


def _ratio(sums: Sums, numerator: int, denominator: int, factor: float = 1.0) -> Sums:
    low = np.maximum(sums[:, denominator], 1e-300)
    return np.where(sums[:, denominator] > 0, factor * sums[:, numerator] / low, np.nan)


def _bleu(sums: Sums) -> Sums:
    counts = sums.astype(np.int64).tolist()
    return np.array(
        [
            BLEU.compute_bleu(row[:ORDERS], row[ORDERS : 2 * ORDERS], *row[-2:]).score
            for row in counts
        ]
    )


def figures(counted: dict[str, Sums], samples: int, seed: int) -> dict[str, Any]:
    """Return the figures of all sentences, each with its 95 % bootstrap interval."""
    places: dict[str, list[int]] = {}
    wide = 0
    for name, values in counted.items():
        width = values.shape[1] if values.ndim > 1 else 1
        places[name] = list(range(wide, wide + width))
        wide += width
    table = np.column_stack(list(counted.values()))

    def share(numerator: str, denominator: str, factor: float) -> Callable[[Sums], Sums]:
        return lambda sums: _ratio(sums, places[numerator][0], places[denominator][0], factor)

    wanted: dict[str, Callable[[Sums], Sums]] = {
        "bleu": lambda sums: _bleu(sums[:, places["paraphrases"]]),
        "one_minus_bleu": lambda sums: one_minus_bleu(
            sums[:, places["own"]].reshape(-1, 2, ORDERS)
        ),
        "copies": share("copies", "sentences", 100.0),
        "length_ratio": share("words_written", "words_read", 1.0),
    }
    if "scored" in counted:
        wanted["cosine"] = share("cosine", "scored", 1.0)
    if "known" in counted:
        wanted["exact_meaning"] = share("exact", "known", 100.0)
    drawn = np.concatenate(list(resampled(table, samples, seed)))
    measured: dict[str, Any] = {
        "sentences": len(table),
        "empty": int(counted["empty"].sum()),
        "known": int(counted["known"].sum()) if "known" in counted else 0,
        **dict.fromkeys(FIGURES),
    }
    for name, figure in wanted.items():
        value = float(figure(table.sum(axis=0)[None])[0])
        if np.isfinite(value):
            values = figure(drawn)
            bounds = interval(values[np.isfinite(values)])
            measured[name] = {"value": round(value, DECIMALS), **bounds}
    return measured


def output_lines(sentences: Sequence[HeldOut], outputs: Mapping[str, Sequence[str]]) -> str:
    """Return each sentence as a line of JSON, with what was written for it by each search."""
    rows = (
        {
            "id": held.id,
            "text": held.text,
            "written": held.written,
            **{search: texts[place] for search, texts in outputs.items()},
        }
        for place, held in enumerate(sentences)
    )
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def measure(
    config: dict[str, Any],
    model: Path,
    folder: Path,
    shards: int,
    output: Path,
    threads: int = 1,
    device: Device = "auto",
) -> None:
    """Judge a rewriter by its held-out references.

    Args:
        config: `beam`, `bootstrap`, `language`, `testbed` (whether exact meanings are known) and
            `seed`; `templates` where it reads them: all are left free.
        model: folder of the rewriter.
        folder: of the shards of its pairs.
        output: the file of outputs; the figures stand beside it, and their record.

    Raises:
        InputError: a file is damaged.
    """
    torch.set_num_threads(threads)
    chosen = choose_device(device).type
    verify(model / "model.json")
    rows = Input(shard_paths(folder, shards), PairRow).rows().items
    sentences = held_out(rows, config["seed"])
    loaded = load_model(model, chosen)
    read = [held.text for held in sentences]
    inputs = [prefixed(None, text) for text in read] if config.get("templates") else read
    scores = meaning_scores(config["language"], chosen)
    checker = Checker() if config["testbed"] else None
    beams = {"greedy": 1, "beam": config["beam"]}
    outputs, measured = {}, {}
    for name, beam in beams.items():
        texts = rewritten(loaded, model, inputs, beam)
        counted = columns(sentences, texts, scores, checker)
        outputs[name] = texts
        measured[name] = {
            "beam_size": beam,
            **figures(counted, config["bootstrap"], config["seed"]),
            "modified_bleu": modified_bleu(list(zip(read, texts, strict=True))),
        }
    write_text(output, output_lines(sentences, outputs))
    beside = output.with_name(MEASURES)
    write_json(beside, measured)
    write_record(output, len(sentences), len(sentences), {}, files=[output, beside])


main = command(measure, __name__)
