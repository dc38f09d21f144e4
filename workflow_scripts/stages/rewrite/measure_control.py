"""Measure how well a rewriter follows templates, on held-out pairs (docs/rewrite-kinds.md)."""

import heapq
from collections.abc import Iterator, Sequence
from math import nan
from pathlib import Path
from typing import Any

import torch

from workflow_scripts.core.command import command
from workflow_scripts.core.device import Device, choose_device
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_json, write_text
from workflow_scripts.core.files.input_files import unchanged
from workflow_scripts.core.files.manifest import shard_paths, verify, write_record
from workflow_scripts.core.files.rows import PairRow, TreesRow
from workflow_scripts.core.files.shard_frame import Input
from workflow_scripts.core.files.tsv import one_line, table_text
from workflow_scripts.core.progress import progress
from workflow_scripts.core.seeding import fraction
from workflow_scripts.nmt.beam import BeamRequest, translate
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.options import SEARCHED_ROWS
from workflow_scripts.nmt.pieces import source_coder, target_coder
from workflow_scripts.plan.catalogues.rewriters import TEST
from workflow_scripts.stages.rewrite import control
from workflow_scripts.stages.rewrite.control import Answer, Output, Parse, Score, Scores, Search
from workflow_scripts.stages.rewrite.measure import meaning_scores
from workflow_scripts.stages.rewrite.results import CONTROL
from workflow_scripts.stages.rewrite.syntax_templates import Template, prefixed, read_table
from workflow_scripts.stages.rewrite.template_pairs import Parsed, joined, swapped
from workflow_scripts.stages.syntax.parser import Parser
from workflow_scripts.testbed.checker import Checker

# Originals that are shown with their paraphrases.
_SHOWN = 10
_PARSED_AT_ONCE = 512
_COLUMNS = (
    "setting",
    "id",
    "original",
    "own_template",
    "asked",
    "read",
    "paraphrase",
    "nll",
    "template",
    "met",
    "best",
    "best_nll",
    "best_template",
    "met_best",
)


def held_out(
    pairs: Sequence[Path], trees: Sequence[Path], settings: dict[str, Any]
) -> list[Parsed]:
    """Return the pairs to judge by: a sample of those of the split `test`, drawn by their ids.

    Args:
        pairs: shards of pairs.
        trees: shards of their trees.
        settings: `swap`, `sentences` (how many at most) and `seed`.

    Raises:
        InputError: a file is damaged, or no pair is left.
    """

    def every() -> Iterator[Parsed]:
        for path, parsed in zip(pairs, trees, strict=True):
            rows, parses = Input(path, PairRow).rows(), Input(parsed, TreesRow).rows()
            for pair in joined(rows.items, parses.items):
                if pair is not None and not pair.equal and pair.row["corpus"] == TEST:
                    yield swapped(pair, settings["seed"]) if settings["swap"] else pair

    seed = settings["seed"]
    sample = heapq.nsmallest(
        settings["sentences"],
        every(),
        key=lambda pair: (fraction(seed, "control", pair.row["id"]), pair.row["id"]),
    )
    if not sample:
        raise InputError(
            "no held-out pair has two texts with different templates: raise held_out.test"
        )
    return sample


def searcher(folder: Path, beam: int, batch_rows: int, device: str) -> Search:
    """Return the beam search of a rewriter.

    Args:
        folder: of the model.
        beam: hypotheses of a sentence, and length of the n-best list.
        batch_rows: hypotheses at once.
        device: of torch.
    """
    verify(folder / "model.json")
    model = load_model(folder, device)
    source = source_coder(model, folder / "source.model")
    target = target_coder(model, folder / "reference.model")

    def search(
        inputs: Sequence[tuple[str | None, str]],
    ) -> Iterator[list[tuple[str, float]]]:
        requests = (
            BeamRequest(source.encode(prefixed(template, sentence)))
            for template, sentence in inputs
        )
        results = translate(
            model, requests, beam_size=beam, nbest=beam, batch_rows=max(beam, batch_rows)
        )
        for result in progress(results, len(inputs), "paraphrase by template"):
            texts = map(target.decode, result.outputs)
            # Two segmentations of a text are one paraphrase, with the score of the better.
            best: dict[str, float] = {}
            for text, nll in zip(texts, result.nlls, strict=True):
                best.setdefault(text, nll)
            yield list(best.items())

    return search


def parses(config: dict[str, Any], device: str, inputs: dict[str, str]) -> Parse:
    """Return the parser of a configuration; `inputs` are the hashes of its files."""
    with unchanged(inputs):
        parser = Parser(config["folder"], config["language"], config["package"], device)

    def parse(texts: list[str]) -> list[str | None]:
        starts = progress(range(0, len(texts), _PARSED_AT_ONCE), desc="parse: windows")
        return [
            tree
            for start in starts
            for tree in parser.parse(texts[start : start + _PARSED_AT_ONCE])
        ]

    return parse


def scorers(language: str, testbed: bool, device: str) -> dict[str, Score]:
    """Return the measures of meaning: the encoder's cosine, and whether it is exactly the same.

    Args:
        language: of the sentences; the encoder that is installed knows English alone.
        testbed: whether meanings are known. Then `exact` is 100 or 0, and NaN of an original
            outside the grammar.
        device: of torch.
    """
    cosine = meaning_scores(language, device)
    scores: dict[str, Score] = {} if cosine is None else {"cosine": cosine}
    if testbed:
        checker = Checker()

        def exact(pairs: Sequence[tuple[str, str]]) -> list[float]:
            return [
                100.0 * checker.same_meaning(*pair) if checker.parse(pair[0]) else nan
                for pair in pairs
            ]

        scores["exact"] = exact
    return scores


def line(answer: Answer, scores: Scores) -> list[str]:
    """Return the fields of an answer in the table: `_COLUMNS`, then two of each score."""
    asked = answer.question
    return [
        asked.setting,
        asked.id,
        asked.sentence,
        asked.own,
        asked.asked,
        asked.read or "",
        *_fields(answer.first),
        str(int(answer.met)),
        *_fields(answer.best),
        str(int(answer.met_best)),
        *(
            _number(scores.of(name, asked, output))
            for name in scores.scorers
            for output in (answer.first, answer.best)
        ),
    ]


def _fields(output: Output | None) -> tuple[str, str, str]:
    if output is None:
        return "", "", ""
    return output.text, f"{output.nll:.4f}", output.template or ""


def _number(value: float | None) -> str:
    return "" if value is None or value != value else f"{value:.4f}"


def results(
    answers: Sequence[Answer], scores: Scores, frequent: Sequence[Template], config: dict[str, Any]
) -> dict[str, Any]:
    """Return all measures: of the settings, by template, and some examples."""
    scores.learn(answers)
    return {
        "beam_size": config["beam"],
        "settings": control.measures(answers, scores, config["bootstrap"], config["seed"]),
        "templates": control.by_template(answers, frequent, scores),
        "examples": control.examples(answers, _SHOWN),
    }


def measure(
    config: dict[str, Any],
    model: Path,
    pairs: Path,
    trees: Path,
    templates: Path,
    shards: int,
    output: Path,
    inputs: dict[str, str] | None = None,
    batch_rows: int = SEARCHED_ROWS,
    threads: int = 1,
    device: Device = "auto",
) -> None:
    """Measure how well a rewriter follows templates.

    Args:
        config: `parser` (folder, package, language), `most` (templates), `sentences`, `beam`,
            `swap`, `bootstrap`, `language`, `testbed` and `seed`.
        model: folder of the rewriter.
        pairs: the folder of the shards of its pairs, without templates.
        trees: the folder of the shards of their trees.
        templates: the table of its templates.
        output: the table of answers; the measures stand beside it, and their record.
        batch_rows: hypotheses at once.

    Raises:
        InputError: a file is damaged, or no held-out pair is of use.
    """
    torch.set_num_threads(threads)
    chosen = choose_device(device).type
    verify(templates)
    frequent = read_table(templates)[: config["most"]]
    judged = held_out(shard_paths(pairs, shards), shard_paths(trees, shards), config)
    asked = list(control.questions(judged, frequent))
    search = searcher(model, config["beam"], batch_rows, chosen)
    answered = control.answers(asked, search, parses(config["parser"], chosen, inputs or {}))
    scores = Scores(scorers(config["language"], config["testbed"], chosen))
    measured = results(answered, scores, frequent, config)
    header = [*_COLUMNS, *(f"{name}{end}" for name in scores.scorers for end in ("", "_best"))]
    rows = one_line(line(answer, scores) for answer in answered)
    write_text(output, table_text(header, rows))
    beside = output.with_name(CONTROL)
    write_json(beside, measured)
    write_record(output, len(answered), len(answered), {}, files=[output, beside])


main = command(measure, __name__)
