"""Measure how a rewriter with noise repairs known damage, beside what repairs nothing.

Held-out sentences get one damage each, of every kind that they have a place for; the rewriter, a
spelling corrector, and one that does nothing are judged by the words that they then write
(docs/rewrite-kinds.md).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from workflow_scripts.core.command import command
from workflow_scripts.core.device import Device
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_json, write_text
from workflow_scripts.core.files.lines import read_lines
from workflow_scripts.core.files.manifest import shard_paths, verify, write_record
from workflow_scripts.core.files.rows import PairRow
from workflow_scripts.core.files.shard_frame import Input
from workflow_scripts.core.files.tsv import one_line, table_text
from workflow_scripts.core.seeding import fraction, generator
from workflow_scripts.core.statistics.bootstrap import interval, resampled
from workflow_scripts.core.statistics.rounding import DECIMALS
from workflow_scripts.core.text.letters import like
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.plan.catalogues.rewriters import KINDS
from workflow_scripts.stages.generate.constraint_words import split_word
from workflow_scripts.stages.rewrite.corrector import Corrector, corrects
from workflow_scripts.stages.rewrite.measure import held_out, rewritten
from workflow_scripts.stages.rewrite.noising import Damage, damage_once
from workflow_scripts.stages.rewrite.restoration import restoration
from workflow_scripts.stages.rewrite.results import REPAIR
from workflow_scripts.testbed.checker import Checker

REWRITER, NOTHING, CORRECTOR = "rewriter", "nothing", "corrector"
# In place of a kind: nothing was damaged; all kinds together, without misspellings of a list.
NONE, ALL = "none", "all"
# A misspelling of a list, which people wrote.
LISTED = "listed"
EXAMPLES = 10
_COUNTS = ("sentences", "damages", "repaired", "clean", "kept", "exact", "meaning")
# Each figure: what is counted, and of what it is a share.
_SHARES = {
    "repaired": ("repaired", "damages"),
    "kept": ("kept", "clean"),
    "exact": ("exact", "sentences"),
    "same_meaning": ("meaning", "sentences"),
}


class Item(NamedTuple):
    """A sentence that is to be repaired: undamaged, and as it is read; `kind` may be NONE."""

    id: str
    kind: str
    undamaged: str
    text: str
    damages: tuple[Damage, ...]


def items(
    sentences: Iterable[tuple[str, str]],
    language: str,
    kinds: Sequence[str],
    seed: int,
    listed: Mapping[str, Sequence[str]] | None = None,
) -> Iterator[Item]:
    """Yield each sentence undamaged, then with one damage of every kind that it has a place for.

    Args:
        sentences: (id, text).
        language: their code.
        kinds: of damage.
        seed: of the draws, which depend on nothing but the id.
        listed: misspellings by the word that was meant.
    """
    for identifier, text in sentences:
        yield Item(identifier, NONE, text, text, ())
        for kind in kinds:
            damaged = damage_once(text, language, kind, seed, "repair", identifier)
            if damaged:
                yield Item(identifier, kind, text, *damaged)
        if listed and (item := _misspelt(identifier, text, listed, seed)):
            yield item


def _misspelt(
    identifier: str, text: str, listed: Mapping[str, Sequence[str]], seed: int
) -> Item | None:
    """Return a sentence with one word misspelt as somebody did it; None if none is in the list."""
    parts = text.split(" ")
    words = {place: word for place, part in enumerate(parts) if (word := split_word(part))}
    places = [place for place, word in words.items() if word.text.lower() in listed]
    if not places:
        return None
    random = generator(seed, LISTED, identifier)
    place = places[int(random.integers(len(places)))]
    old, word = parts[place], words[place]
    options = listed[word.text.lower()]
    new = like(options[int(random.integers(len(options)))], word.text)
    parts[place] = word.lead + new + old[len(word.lead) + len(word.text) :]
    damaged = Damage(LISTED, place, old, parts[place])
    return Item(identifier, LISTED, text, " ".join(parts), (damaged,))


def read_misspellings(path: Path) -> dict[str, list[str]]:
    """Return the misspellings of a list by the word that is meant.

    Args:
        path: lines `wrong->right`, as codespell has them; a line with several right words is left
            out, as nobody knows which is meant.

    Raises:
        InputError: a line is of another form, or no line is left.
    """
    wrong_by_right: dict[str, list[str]] = {}
    for number, line in enumerate(read_lines(path), start=1):
        wrong, arrow, right = line.partition("->")
        if not (arrow and wrong and right):
            raise InputError(f"{path}, line {number}: it is not of the form wrong->right: {line}")
        if wrong.isalpha() and right.isalpha():
            wrong_by_right.setdefault(right.lower(), []).append(wrong.lower())
    if not wrong_by_right:
        raise InputError(f"{path}: no line has one word for one word")
    return wrong_by_right


def counts(item: Item, output: str, checker: Checker | None) -> list[int]:
    """Return what is counted of one output, as `_COUNTS` names it."""
    restored = restoration(item.undamaged, item.damages, output)
    meaning = checker is not None and checker.same_meaning(item.undamaged, output)
    return [
        1,
        restored.damages,
        restored.repaired,
        restored.clean,
        restored.kept,
        int(restored.exact),
        int(meaning),
    ]


def figures(
    done: Sequence[Item],
    outputs: Mapping[str, Sequence[str]],
    checker: Checker | None,
    samples: int,
    seed: int,
) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the shares of each method by kind, x 100, with 95 % bootstrap intervals.

    A share is None where there is nothing that it could be of, or nobody who knows. The sentences
    are drawn, each with all its damages.

    Args:
        done: what was to be repaired.
        outputs: for each of these, by method.
        checker: knows exact meanings; None where nobody does.
        samples: bootstrap samples to draw.
        seed: of the draws.
    """
    number = {identifier: row for row, identifier in enumerate(dict.fromkeys(i.id for i in done))}
    kinds = list(dict.fromkeys(item.kind for item in done))
    shares: dict[str, dict[str, dict[str, Any]]] = {}
    for method, texts in outputs.items():
        sums = {kind: np.zeros((len(number), len(_COUNTS))) for kind in (*kinds, ALL)}
        for item, text in zip(done, texts, strict=True):
            counted = counts(item, text, checker)
            sums[item.kind][number[item.id]] += counted
            if item.kind in KINDS:
                sums[ALL][number[item.id]] += counted
        shares[method] = {
            kind: _shares(table, checker is not None, samples, seed)
            for kind, table in sums.items()
            if table.any()
        }
    return shares


def _shares(table: NDArray[np.float64], meanings: bool, samples: int, seed: int) -> dict[str, Any]:
    total = table.sum(axis=0)
    shares: dict[str, Any] = {"sentences": int(total[0])}
    drawn = np.concatenate(list(resampled(table, samples, seed)))
    for name, (part, whole) in _SHARES.items():
        top, bottom = _COUNTS.index(part), _COUNTS.index(whole)
        if not total[bottom] or (name == "same_meaning" and not meanings):
            shares[name] = None
            continue
        counted = drawn[drawn[:, bottom] > 0]
        shares[name] = {
            "value": round(100.0 * total[top] / total[bottom], DECIMALS),
            **interval(100.0 * counted[:, top] / counted[:, bottom]),
        }
    return shares


def examples(done: Sequence[Item], outputs: Sequence[str], seed: int) -> list[dict[str, str]]:
    """Return damaged sentences and what became of them, drawn whether repaired or not.

    Their form is that of Table 12 of Wieting and Gimpel (2018); the kinds take turns.
    """
    pairs = [(item, out) for item, out in zip(done, outputs, strict=True) if item.kind != NONE]
    drawn = sorted(pairs, key=lambda pair: fraction(seed, "example", pair[0].kind, pair[0].id))
    turns: dict[str, int] = {}
    ranked = []
    for item, output in drawn:
        turns[item.kind] = turns.get(item.kind, 0) + 1
        ranked.append((turns[item.kind], item, output))
    ranked.sort(key=lambda row: row[0])
    return [
        {
            "kind": item.kind,
            "original": item.text,
            "paraphrase": output,
            "undamaged": item.undamaged,
        }
        for _, item, output in ranked[:EXAMPLES]
    ]


def table(done: Sequence[Item], outputs: Mapping[str, Sequence[str]]) -> str:
    """Return one line for each sentence with its damage, and what each method made of it."""
    methods = [method for method in outputs if method != NOTHING]
    header = ["id", "kind", "undamaged", "damaged"]
    rows = []
    for place, item in enumerate(done):
        texts = [outputs[method][place] for method in methods]
        repaired = [restoration(item.undamaged, item.damages, text).repaired for text in texts]
        marks = [str(number) if item.damages else "" for number in repaired]
        rows.append([item.id, item.kind, item.undamaged, item.text, *texts, *marks])
    columns = [*header, *methods, *(f"{method}_repaired" for method in methods)]
    return table_text(columns, one_line(rows))


def repair(
    config: dict[str, Any],
    sentences: Sequence[tuple[str, str]],
    rewrite: Callable[[Sequence[str]], list[str]],
    listed: Mapping[str, Sequence[str]] | None,
    output: Path,
) -> None:
    """Measure repair on some sentences; write the sentences, the figures, and their record.

    Args:
        config: `kinds`, `language`, `testbed` (whether exact meanings are known), `bootstrap` and
            `seed`.
        sentences: (id, text), undamaged, which the rewriter was not trained on.
        rewrite: the rewriter.
        listed: misspellings by the word that was meant.
        output: the table of sentences; the figures stand beside it.

    Raises:
        InputError: no sentence has a place for any damage.
    """
    language, seed = config["language"], config["seed"]
    done = list(items(sentences, language, config["kinds"], seed, listed))
    if all(item.kind == NONE for item in done):
        raise InputError(
            f"none of the {len(sentences):,} held-out sentences has a place for damage of the "
            f"kinds {', '.join(config['kinds'])}; give other kinds a weight in noise.weights"
        )
    read = [item.text for item in done]
    outputs = {REWRITER: rewrite(read), NOTHING: read}
    if corrects(language):
        corrector = Corrector(language)
        outputs[CORRECTOR] = [corrector.correct(text) for text in read]
    checker = Checker() if config["testbed"] else None
    write_text(output, table(done, outputs))
    beside = output.with_name(REPAIR)
    write_json(
        beside,
        {
            "language": language,
            "held_out": len(sentences),
            "methods": figures(done, outputs, checker, config["bootstrap"], seed),
            "examples": examples(done, outputs[REWRITER], seed),
        },
    )
    write_record(output, len(done), len(done), {}, files=[output, beside])


def repair_held_out(
    config: dict[str, Any],
    model: Path,
    folder: Path,
    shards: int,
    output: Path,
    misspellings: Path | None = None,
    threads: int = 1,
    device: Device = "auto",
) -> None:
    """Measure how a rewriter with noise repairs known damage on its held-out sentences.

    Args:
        config: `beam`, and what `repair` asks for.
        model: folder of the rewriter.
        folder: of the shards of its pairs.
        output: the table of sentences; the figures stand beside it.
        misspellings: lines wrong->right: one kind more.

    Raises:
        InputError: a file is damaged; see `repair`.
    """
    torch.set_num_threads(threads)
    verify(model / "model.json")
    listed = None if misspellings is None else read_misspellings(misspellings)
    rows = Input(shard_paths(folder, shards), PairRow).rows()
    sentences = [(sentence.id, sentence.text) for sentence in held_out(rows.items, config["seed"])]
    loaded = load_model(model, device)

    def rewrite(texts: Sequence[str]) -> list[str]:
        return rewritten(loaded, model, texts, config["beam"])

    repair(config, sentences, rewrite, listed, output)


main = command(repair_held_out, __name__)
