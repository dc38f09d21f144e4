"""Our definitions beside what ParaBank 2 prints of the outputs that ParaBank's authors released.

The data has the outputs for 200 of the 400 references, so a figure of ours has a wide interval. A
definition that is wrong (with brevity penalty, with punctuation, of multisets) would still often
be inside: the exact figures keep the definitions from changing unseen.
"""

import csv
import json
from collections.abc import Iterator

import numpy as np
import pytest

from tests.oracles import SMALL
from workflow_scripts.core.statistics.bootstrap import rank_intervals
from workflow_scripts.stages.evaluate.diversity import (
    bleu_counts,
    diversity,
    main,
    one_minus_bleu,
    sentence,
)
from workflow_scripts.stages.subword.segmenter import Segmenter

FOLDER = "parabank_ratings"
# By number of the system in the file: 1-BLEU and intersection/union in Table 1 of ParaBank 2.
PAPER = {35: (66.29, 48.76), 17: (62.85, 46.21), 34: (58.16, 51.01)}  # 35 is ParaNMT
# Ours, on words, of the references that are in the data.
OURS = {35: (64.661293, 46.672185), 17: (58.991046, 45.543889), 34: (54.41384, 50.18144)}
# Intersection/union of pieces of a small vocabulary; segmented in lower case, without punctuation,
# they would give 55.57, 54.65 and 59.05.
OF_PIECES = {35: 55.072095, 17: 55.181019, 34: 59.009624}
# Of systems 17 and 34: Table 2 of ParaBank 2, and ours.
PAIR, OUR_PAIR = 20.58, (20.908438, 85.276632)


def rows(path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)


@pytest.fixture(scope="module")
def outputs(data_dir):
    """Pairs of reference and output, by system."""
    folder = data_dir / FOLDER
    references = {row["ref_id"]: row["ref_sent"] for row in rows(folder / "ref.tsv")}
    found = {system: {} for system in PAPER}
    for row in rows(folder / "candidates.tsv"):
        for system in map(int, row["sys_id"].split()):
            if system in found:
                found[system][row["ref_id"]] = row["candidate"]
    return {
        system: [(references[name], text) for name, text in sorted(each.items())]
        for system, each in found.items()
    }


@pytest.fixture(scope="module")
def pieces():
    return Segmenter(SMALL / "spm.en.model")


@pytest.mark.parametrize("system", PAPER)
def test_figures_of_released_outputs(outputs, system, tmp_path, capsys):
    pairs = outputs[system]
    assert len(pairs) == 200
    sides = [tmp_path / "references.txt", tmp_path / "paraphrases.txt"]
    for path, texts in zip(sides, zip(*pairs, strict=True), strict=True):
        path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    main(["--references", str(sides[0]), "--paraphrases", str(sides[1])])
    found = json.loads(capsys.readouterr().out)
    assert (found["one_minus_bleu"], found["intersection_over_union"]) == OURS[system]


@pytest.mark.parametrize("system", PAPER)
def test_pieces_of_released_outputs(outputs, pieces, system):
    assert diversity(outputs[system], pieces)["intersection_over_union"] == OF_PIECES[system]


def test_two_systems_against_each_other(outputs, pieces):
    pairs = [(one, other) for (_, one), (_, other) in zip(outputs[17], outputs[34], strict=True)]
    found = diversity(pairs, pieces)
    assert (found["one_minus_bleu"], found["intersection_over_union"]) == OUR_PAIR
    assert abs(OUR_PAIR[0] - PAIR) < 0.5


@pytest.mark.parametrize("system", PAPER)
def test_the_paper_is_within_the_interval_of_half_the_references(outputs, system):
    pairs = outputs[system]
    both = [tuple(map(sentence, pair)) for pair in pairs]
    counts = np.array([[bleu_counts(*pair)] for pair in both])
    (interval,) = rank_intervals(counts, one_minus_bleu, 1000, 1)[0]
    assert interval["low"] <= PAPER[system][0] <= interval["high"]
    single = np.array([diversity([pair])["intersection_over_union"] for pair in pairs])
    reach = 1.96 * single.std() / len(single) ** 0.5
    assert abs(single.mean() - PAPER[system][1]) <= reach
