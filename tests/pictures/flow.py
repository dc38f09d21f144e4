"""The flow as a picture: which stage reads what, in a run with everything enabled."""

import textwrap
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from tests import stanza_package
from tests.configs import changes, merged, run_on_testbed
from tests.pictures.board import Row, draw
from workflow_scripts.plan.layout import Layout
from workflow_scripts.plan.selection import Unit
from workflow_scripts.stages.catalogue import STAGES, run_layout

# Letters in a line of units: the longest name of one.
WIDTH = 25
# One of each kind but `vectors`, which needs a file of the user's.
COLUMNS = ("perplexity", "lstm", "paraphrase_score", "unknown_words", "identified")
# A visit of a stage: a stage that is needed, then left, then needed again has two.
Visit = tuple[str, int]
LEGEND = (
    "A lane leaves each stage. An arrow leads into a stage; its dots are the lanes that it "
    "reads. Below a name: its units in a run with everything that can be enabled."
)


EVERYTHING = """
corpora.web.testbed: {first: 500000, count: 100}
run: {corpora: [testbed, web], systems: [parabank], rewriters: [rewriter], lexicons: [lexicon],
  encoders: [pbert]}
dual_filter.enabled: true
columns.unknown_words.feature.name: unknown_words
columns.identified.encoder.name: pbert
judges.own: {features: [forward_worst, forward_gain, grammar, unknown_words], grammar: run}
systems.parabank.select: {judge: own, score: judge, keep: {max_sum: 3.5, precision: 0.75}}
rewriters.rewriter: {training_sets: [all], model: testbed}
lexicons.lexicon.training_sets: [all]
encoders.pbert: {training_set: all, embedding: {name: word, training_set: all}, scratch: {}}
evaluate: {reference_scores: true, syntax: {levels: 3, share: 1.0}}
"""


def everything(results: Path) -> dict[str, Any]:
    """Return the run on the testbed with all stages, and all that they read, enabled."""
    config = merged(run_on_testbed(), changes(EVERYTHING))
    labels = results / "labels.tsv"
    labels.write_text("", encoding="utf-8")
    parser = {"folder": str(stanza_package.FOLDER), "package": stanza_package.PACKAGE}
    found = {
        "results": str(results),
        "judges": {"own": {"labels": str(labels)}},
        "transfer": {"data": [str(_transfer_data(results / "senteval"))]},
        "evaluate": {"columns": list(COLUMNS), "syntax": parser},
    }
    return merged(config, found)


def _transfer_data(folder: Path) -> Path:
    """Write the files of one transfer task, and return their folder."""
    for name in ("custrev.pos", "custrev.neg"):
        path = folder / "CR" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("a\n", encoding="utf-8")
    return folder


def visits(layout: Layout) -> dict[Unit, Visit]:
    """Return the visit in which each unit is made."""
    found: dict[Unit, Visit] = {}
    for unit in layout.units():
        number = 1
        for read in layout.upstream(unit):
            same = read[0] == unit[0]
            for each in layout.all_upstream([read]):
                if each[0] == unit[0]:
                    number = max(number, found[each][1] + (0 if same else 1))
        found[unit] = (unit[0], number)
    return found


def rows(layout: Layout) -> list[Row]:
    """Return a row for each visit of a stage, each below what it reads."""
    visit_of = visits(layout)
    reads: dict[Visit, set[Visit]] = {visit: set() for visit in visit_of.values()}
    for unit, visit in visit_of.items():
        reads[visit] |= {visit_of[each] for each in layout.upstream(unit)} - {visit}
    again = {stage for stage, number in reads if number > 1}

    def name(visit: Visit) -> str:
        return f"{visit[0]} ({visit[1]})" if visit[0] in again else visit[0]

    return [
        Row(
            name(visit),
            _notes([unit[1] for unit, each in visit_of.items() if each == visit and unit[1]]),
            frozenset(map(name, reads[visit])),
        )
        for visit in in_order(reads)
    ]


def in_order(reads: dict[Visit, set[Visit]]) -> list[Visit]:
    """Return visits each after those that it reads, otherwise in the order of the stages.

    Raises:
        ValueError: they read each other in a circle, which a picture of them could not show.
    """
    places = {stage.name: place for place, stage in enumerate(STAGES)}
    sorter = TopologicalSorter(reads)
    try:
        sorter.prepare()
    except CycleError as error:
        raise ValueError(f"stages read each other in a circle: {error.args[1]}") from error
    ordered: list[Visit] = []
    ready: list[Visit] = []
    while sorter.is_active():
        ready = sorted([*ready, *sorter.get_ready()], key=lambda v: (places[v[0]], v[1]))
        sorter.done(ready[0])
        ordered.append(ready.pop(0))
    return ordered


def _notes(instances: list[str]) -> list[str]:
    text = ", ".join(instances)
    return textwrap.wrap(text, WIDTH, max_lines=2, placeholder=" …", break_on_hyphens=False)


def picture(results: Path) -> str:
    """Return the picture as SVG; `results` is a folder for the hashes of input files."""
    layout = run_layout(everything(results))
    found = rows(layout)
    steps = [f"{row.name} reads {', '.join(sorted(row.takes)) or 'nothing'}" for row in found]
    return draw("Which stage reads what", "; ".join(steps), found, LEGEND)
