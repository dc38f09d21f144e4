"""The modified BLEU of ParaBank (5.4): its reading, and the figures of the paper."""

import csv
import json
import string
from collections import defaultdict

import pytest

from workflow_scripts.core.files.parallel import read_pairs
from workflow_scripts.stages.evaluate.diversity import diversity
from workflow_scripts.stages.evaluate.modified_bleu import main, modified_bleu, paragraph

# Table 4 of the paper, Czech-English: by system and length. ParaNMT is 35 in the released outputs.
TABLE_4 = {
    "35": (18.32, 25.49, 32.25, 33.84),
    "17": (9.25, 20.62, 35.76, 41.88),
    "21": (0.00, 7.84, 22.04, 28.90),
    "28": (19.32, 28.41, 42.02, 46.63),
    "31": (19.09, 29.16, 41.42, 46.96),
    "34": (13.22, 24.90, 39.11, 44.67),
}
LENGTHS = ("5", "10", "20", "40")


def test_sentences_become_one_text_without_case_and_without_what_ends_them():
    text = paragraph(["Isn't it, Tom?!", "Yes... it is (now).", "OK"])
    assert text == "isn't it, tomyes... it is (nowok"


def test_a_word_counts_wherever_it_stands_in_the_other_paragraph():
    one, other = "The old man sees a dog here.", "A small dog sees the old man now."
    apart = 100 - diversity([(one, other)])["one_minus_bleu"]
    pairs = [(one, other), (other, one)]
    assert 100 - diversity(pairs)["one_minus_bleu"] < 40 < modified_bleu(pairs)
    assert modified_bleu([(one, one.upper())]) == pytest.approx(100.0)
    assert modified_bleu([(one, other)]) == pytest.approx(apart, abs=1e-6)
    assert modified_bleu([]) is None


def test_short_paraphrases_are_not_punished():
    assert modified_bleu([("a b c d e f g h", "a b c d")]) == pytest.approx(100.0)


def test_an_order_without_a_match_makes_it_0():
    assert modified_bleu([("a b c d", "a b x c d")]) == 0.0


def test_the_command_prints_one_object(tmp_path, capsys):
    paths = [tmp_path / "r", tmp_path / "p"]
    for path, lines in zip(paths, ("A b c d!\nE f\n", "a b c d\nE f.\n"), strict=True):
        path.write_text(lines, encoding="utf-8")
    main(["--references", str(paths[0]), "--paraphrases", str(paths[1])])
    expected = {"pairs": 2, "modified_bleu": modified_bleu(list(read_pairs(*paths)))}
    assert json.loads(capsys.readouterr().out) == expected


@pytest.fixture
def released(data_dir):
    """The outputs that the authors released, half of them, by system and length."""

    def read(name):
        with (data_dir / "parabank_ratings" / name).open(encoding="utf-8") as stream:
            yield from csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)

    references = {row["ref_id"]: row for row in read("ref.tsv")}
    found = defaultdict(dict)
    for row in read("candidates.tsv"):
        reference = references[row["ref_id"]]
        for system in row["sys_id"].split():
            pair = (reference["ref_sent"], row["candidate"])
            found[system, reference["ref_len"]].setdefault((row["ref_id"], pair), pair)
    return {key: list(pairs.values()) for key, pairs in found.items()}


def as_printed(side):
    """Return sentences without any ASCII punctuation."""
    return side.translate(str.maketrans("", "", string.punctuation))


# By reading: how far averages over the lengths are off, and single figures (docs/evaluate.md).
READINGS = {
    "stripped at the ends, joined": (str, (0.67, 1.89)),
    "stripped at the ends, a blank between": (" {}".format, (2.60, 2.81)),
    "deleted everywhere, joined": (as_printed, (1.86, 3.46)),
    "deleted everywhere, a blank between": (lambda side: f" {as_printed(side)}", (5.49, 5.49)),
}


@pytest.mark.slow
@pytest.mark.parametrize(("read", "expected"), READINGS.values(), ids=READINGS)
def test_the_paper_s_figures_come_out_of_the_released_outputs(released, read, expected):
    averages, single = [], []
    for system, row in TABLE_4.items():
        cells = [released[system, length] for length in LENGTHS]
        assert {len(cell) for cell in cells} == {50}
        found = [modified_bleu([tuple(map(read, pair)) for pair in cell]) for cell in cells]
        averages.append(abs(sum(found) - sum(row)) / 4)
        single += [abs(ours - theirs) for ours, theirs in zip(found, row, strict=True)]
    assert tuple(round(sum(each) / len(each), 2) for each in (averages, single)) == expected
