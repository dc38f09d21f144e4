"""How much text there is, and how fast the stages that read text are on this machine.

A sample of each corpus goes through the real stages, in a folder that is thrown away.
"""

import contextlib
import io
import json
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import shard_paths
from workflow_scripts.core.files.parquet import count_rows, read_rows
from workflow_scripts.core.files.rows import ScoredCandidate, ScoredRow, SegmentRow, Side
from workflow_scripts.core.files.seal import canonical
from workflow_scripts.core.suggestion import suggestion
from workflow_scripts.plan import selection
from workflow_scripts.plan.catalogues.written_sources import TEXT, is_text
from workflow_scripts.plan.layout import Layout
from workflow_scripts.plan.schema import filled
from workflow_scripts.stages.clean import shard as clean
from workflow_scripts.stages.corpus.importer import import_corpus
from workflow_scripts.stages.corpus.pairs import Pair, read_pairs
from workflow_scripts.stages.corpus.stage import Corpus
from workflow_scripts.stages.select.shard import select
from workflow_scripts.stages.subword import segment
from workflow_scripts.stages.subword import train as subword
from workflow_scripts.stages.subword.segmenter import Segmenter
from workflow_scripts.stages.subword.stage import Subword

SAMPLE = 4000
_SHARDS = 8
_NAME = "sample"
_SIDES: tuple[Side, Side] = ("source", "reference")
_SELECTED_ROWS = 10


class TextSpeed(NamedTuple):
    """CPU-seconds and bytes of the stages that read text.

    `imported`: per line, by corpus; `cleaned`: per pair; `trained`: per sentence of a SentencePiece
    model; `segmented`: per segment, a copy of a pair; `selected`: per candidate; `pair_bytes`,
    `segment_bytes`: on disk; `characters`: mean of a reference; `pieces`: mean of each side.
    """

    imported: dict[str, float]
    cleaned: float
    trained: float
    segmented: float
    selected: float
    pair_bytes: float
    segment_bytes: float
    characters: float
    pieces: dict[str, float]


def lines_of(layout: Layout, corpus: str) -> Iterator[Any]:
    """Yield what the import of a corpus reads: pairs, and lines that are no pairs."""
    block = layout.config["corpora"][corpus]
    unit = f"{corpus}{TEXT}" if is_text(block) else corpus
    config = layout.settings(("corpus", unit))
    return read_pairs(corpus, config["block"], config["max_line_bytes"], config["seed"])


def _with_source(pair: Pair) -> Pair:
    """Return a pair with a stand-in for a source that is to be written: its words, backwards."""
    if pair.source:
        return pair
    return pair._replace(source=" ".join(reversed(pair.reference.split())))


def is_here(layout: Layout, corpus: str) -> bool:
    """Tell whether the files of a corpus are there: one that is downloaded may not be yet."""
    return all(Path(path).is_file() for path in layout.stage(Corpus).input_files(corpus))


def count_lines(layout: Layout, known: dict[str, int]) -> dict[str, int]:
    """Return the lines of every corpus: as given, as simulated, or counted.

    Raises:
        InputError: a corpus is not here and its lines are not given, or lines are given of one that
            the run does not have.
    """
    counts: dict[str, int] = {}
    names = selection.corpora(layout.config)
    for name in known:
        if name not in names:
            raise InputError(
                f"--lines {name}: no corpus of this run{suggestion(name, names, 'corpora')}"
            )
    for name in names:
        testbed = layout.config["corpora"][name].get("testbed")
        if name in known:
            counts[name] = known[name]
        elif testbed:
            counts[name] = testbed["count"] * filled(testbed, "testbed_corpus")["realisations"]
        elif is_here(layout, name):
            counts[name] = sum(1 for _ in lines_of(layout, name))
        else:
            raise InputError(
                f"corpora.{name}: not downloaded yet; say how many lines it has: --lines {name}=N"
            )
    return counts


def seconds_of(call: Callable[[], Any]) -> float:
    """Return the CPU-seconds of a call; what it says on the terminal is dropped."""
    start = time.process_time()
    with contextlib.redirect_stderr(io.StringIO()):
        call()
    return time.process_time() - start


def _sample(layout: Layout) -> dict[str, list[Pair]]:
    """Return the first pairs of every corpus that is here.

    Raises:
        InputError: none is.
    """
    here = [name for name in selection.corpora(layout.config) if is_here(layout, name)]
    if not here:
        raise InputError("no corpus of this run is here to calibrate on; download one of them")
    pairs = {
        name: [
            _with_source(row)
            for row in islice(lines_of(layout, name), SAMPLE)
            if isinstance(row, Pair)
        ]
        for name in here
    }
    return {name: rows for name, rows in pairs.items() if rows}


def _train_segmenters(layout: Layout, folder: Path) -> float:
    """Train both SentencePiece models, smaller where the sample is; return CPU-seconds."""
    seconds = 0.0
    for side in _SIDES:
        config = layout.stage(Subword).vocabulary_settings("main", side) | {"corpora": [_NAME]}
        while True:
            arguments = ["--config", canonical(config), "--folder", str(folder)]
            arguments += ["--shards", str(_SHARDS), "--output", str(folder / f"{side}.model")]
            try:
                seconds += seconds_of(partial(subword.main, arguments))
                break
            except InputError:
                if config["vocab_size"] < 100:
                    raise
                config["vocab_size"] //= 2
    return seconds


def select_among(
    texts: list[str], config: dict[str, Any], segment: Callable[[str], list[str]]
) -> None:
    """Select among `texts` as if they were candidates of the first one."""
    candidates: list[ScoredCandidate] = [
        {
            "text": text,
            "forward_nll": 1.0,
            "backward_nll": 1.0,
            "sum": 2.0,
            "count": 1,
            "variant": "",
            "source": None,
            "lost": None,
            "divergence": None,
        }
        for text in texts
    ]
    row: ScoredRow = {
        "id": "",
        "source": "",
        "reference": texts[0],
        "corpus": "",
        "candidates": candidates,
    }
    judged = config.get("judge") is not None
    probabilities: list[float | None] | None = [1.0] * len(texts) if judged else None
    select(row, config, 9.0, segment, probabilities)


def _select_seconds(layout: Layout, texts: list[str], segmenter: Segmenter) -> float:
    """Return the CPU-seconds per candidate of a selection among other sentences."""
    system = layout.config["run"]["systems"][0]
    config = layout.settings(("select", system))
    texts = list(dict.fromkeys(texts))[:150]

    def run() -> None:
        for _ in range(_SELECTED_ROWS):
            select_among(texts, config, segmenter.pieces)

    return seconds_of(run) / (_SELECTED_ROWS * len(texts))


def _import_seconds(layout: Layout, corpora: Iterable[str], folder: Path) -> dict[str, float]:
    """Return the CPU-seconds per line of the import of each corpus; some lines are no pairs."""
    seconds = {}
    for corpus in corpora:
        lines = islice(lines_of(layout, corpus), SAMPLE)
        call = partial(import_corpus, corpus, lines, _SHARDS, folder / corpus)
        taken = seconds_of(call)
        seconds[corpus] = taken / sum(1 for _ in islice(lines_of(layout, corpus), SAMPLE))
    return seconds


def _clean_seconds(layout: Layout, rows: list[Pair], raw: Path, cleaned: Path) -> float:
    """Import pairs into `raw` and clean them into `cleaned`; return the CPU-seconds of cleaning."""
    with contextlib.redirect_stderr(io.StringIO()):
        import_corpus(_NAME, iter(rows), _SHARDS, raw)
    config = layout.settings(("clean", None)) | {"corpora": [_NAME]}

    def clean_all() -> None:
        for path in shard_paths(raw, _SHARDS):
            arguments = ["--config", json.dumps(config), "--pairs", str(path)]
            rejected = cleaned / "rejected" / f"{path.stem}.tsv.zst"
            arguments += ["--output", str(cleaned / path.name), "--rejected", str(rejected)]
            clean.main(arguments)

    return seconds_of(clean_all)


class _Segmentation(NamedTuple):
    """CPU-seconds, bytes and pieces as `TextSpeed` has them, and the model of references."""

    trained: float
    segmented: float
    segment_bytes: float
    pieces: dict[str, float]
    of_references: Segmenter


def _by_given_models(rows: list[Pair], models: dict[Side, Path]) -> _Segmentation:
    """Segment the sample by SentencePiece models of both sides, for the number of pieces alone."""
    segmenters = {side: Segmenter(path) for side, path in models.items()}
    pieces: dict[str, float] = {
        side: sum(len(segmenters[side].pieces(getattr(row, side))) for row in rows) / len(rows)
        for side in _SIDES
    }
    return _Segmentation(0.0, 0.0, 0.0, pieces, segmenters["reference"])


def _by_trained_models(layout: Layout, cleaned: Path, pairs: int, output: Path) -> _Segmentation:
    """Train SentencePiece models on the clean sample in `cleaned`; segment its largest shard."""
    trained = _train_segmenters(layout, cleaned) / (2 * pairs)
    config = layout.settings(("subword", "main")) | {"train": [_NAME]}
    largest = max(shard_paths(cleaned, _SHARDS), key=count_rows)  # of few pairs some have none
    arguments = ["--config", canonical(config), "--input", str(largest)]
    for side in _SIDES:
        arguments += [f"--{side}-model", str(cleaned / f"{side}.model")]
    seconds = seconds_of(lambda: segment.main([*arguments, "--output", str(output)]))
    segments = list(read_rows(output, SegmentRow))
    pieces: dict[str, float] = {
        side: sum(row[side].count(" ") + 1 for row in segments) / len(segments) for side in _SIDES
    }
    size = output.stat().st_size / len(segments)
    model = Segmenter(cleaned / "reference.model")
    return _Segmentation(trained, seconds / len(segments), size, pieces, model)


def measure(layout: Layout, own: dict[Side, Path] | None = None) -> TextSpeed:
    """Take a sample through import, clean, subword and select.

    Args:
        layout: of the run.
        own: SentencePiece models of both sides, if no model of the run is trained: then nothing is
            trained or segmented.

    Raises:
        InputError: no corpus is here, or cleaning leaves nothing of the sample.
    """
    samples = _sample(layout)
    rows = [row for sample in samples.values() for row in sample[: SAMPLE // len(samples)]]
    texts = [row.reference for row in rows]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        clean_folder = folder / "clean"
        imported = _import_seconds(layout, samples, folder / "corpora")
        cleaned = _clean_seconds(layout, rows, folder / "raw", clean_folder) / len(rows)
        shards = shard_paths(clean_folder, _SHARDS)
        pairs = sum(count_rows(path) for path in shards)
        if not pairs:
            raise InputError(
                f"clean: it leaves none of the first {len(rows):,} pairs to calibrate on; look at "
                "the corpora, and at clean in the configuration"
            )
        if own:
            segmentation = _by_given_models(rows, own)
        else:
            segments = folder / "segments.parquet"
            segmentation = _by_trained_models(layout, clean_folder, pairs, segments)
        return TextSpeed(
            imported=imported,
            cleaned=cleaned,
            trained=segmentation.trained,
            segmented=segmentation.segmented,
            selected=_select_seconds(layout, texts, segmentation.of_references),
            pair_bytes=sum(path.stat().st_size for path in shards) / pairs,
            segment_bytes=segmentation.segment_bytes,
            characters=sum(map(len, texts)) / len(texts),
            pieces=segmentation.pieces,
        )
