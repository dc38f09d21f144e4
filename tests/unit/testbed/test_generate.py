import json
import re
from collections import Counter

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.text.normalisation import words
from workflow_scripts.stages.evaluate.diversity import bleu_counts, one_minus_bleu, sentence
from workflow_scripts.testbed import check_paraphrases, generate
from workflow_scripts.testbed.checker import Checker
from workflow_scripts.testbed.czech_sentence import source
from workflow_scripts.testbed.generate import items, pairs
from workflow_scripts.testbed.meaning import capacity, meaning
from workflow_scripts.testbed.noise import KINDS


def one_kind(kind, count=150):
    clean = list(items(1, 100, count))
    noisy = list(items(1, 100, count, {kind: 1.0}))
    return [(before, after) for before, after in zip(clean, noisy, strict=True) if after.noise]


@pytest.mark.slow
def test_clean_pairs_say_the_meaning():
    checker = Checker()
    for index, (czech, english, noise) in enumerate(pairs(1, 0, 500)):
        assert czech == source(meaning(1, index))
        assert meaning(1, index) in checker.parse(english)
        assert noise is None


def test_a_pair_depends_on_its_number_alone():
    whole = list(pairs(1, 0, 40, {"misaligned": 0.3, "truncated": 0.3}))
    one_by_one = [
        pair for index in reversed(range(40))
        for pair in pairs(1, index, 1, {"truncated": 0.3, "misaligned": 0.3})
    ]  # fmt: skip
    assert whole == one_by_one[::-1]
    assert whole != list(pairs(2, 0, 40, {"misaligned": 0.3, "truncated": 0.3}))


def test_realisations_of_one_meaning_differ():
    found = list(pairs(1, 0, 100, realisations=3))
    assert len(found) == 300
    checker = Checker()
    several = 0
    for start in range(0, 300, 3):
        group = found[start : start + 3]
        assert len({czech for czech, _, _ in group}) == 1
        several += len({english for _, english, _ in group}) == 3
        assert all(checker.same_meaning(group[0][1], english) for _, english, _ in group)
    assert several > 90
    assert [pair[:2] for pair in found[::3]] == [pair[:2] for pair in pairs(1, 0, 100)]


@pytest.mark.slow
def test_realisations_are_diverse():
    """1-BLEU between two realisations of the same meaning is above 60.

    How it is measured: docs/architecture.md, "Measures".
    """
    found = list(pairs(1, 0, 1000, realisations=2))
    counts = sum(
        bleu_counts(sentence(one[1]), sentence(other[1]))
        for one, other in zip(found[::2], found[1::2], strict=True)
    )
    assert one_minus_bleu(counts) > 60


@pytest.mark.slow
def test_length_and_vocabulary():
    found = list(pairs(1, 0, 2500))
    lengths = [len(words(english)) for _, english, _ in found]
    assert 7 <= sum(lengths) / len(lengths) <= 11
    assert max(lengths) <= 30
    assert len({word for _, english, _ in found for word in words(english)}) > 800


@pytest.mark.slow
def test_noise_rates():
    rates = {"misaligned": 0.2, "copied": 0.1, "wrong_charset": 0.05}
    found = Counter(noise for *_, noise in pairs(1, 0, 4000, rates))
    assert found["misaligned"] == pytest.approx(800, abs=110)
    assert found["copied"] == pytest.approx(400, abs=80)
    assert found["wrong_charset"] == pytest.approx(200, abs=60)
    assert found[None] == 4000 - sum(found[kind] for kind in rates)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_changes_the_pair(kind):
    changed = one_kind(kind)
    assert len(changed) > 75
    checker = Checker()
    for before, after in changed:
        assert (before.source, before.reference) != (after.source, after.reference)
        assert after.source.strip() and after.reference.strip()
        assert after.noise == kind
        assert bool(after.tree) == bool(checker.parse(after.reference))


@pytest.mark.slow
def test_what_each_kind_does():
    checker = Checker()
    for before, after in one_kind("copied"):
        assert after.source == after.reference in (before.source, before.reference)
    for before, after in one_kind("swapped"):
        assert (after.source, after.reference) == (before.reference, before.source)
    for before, after in one_kind("truncated"):
        cut = [
            one
            for one, other in ((after.source, before.source), (after.reference, before.reference))
            if one != other and other.startswith(one)
        ]
        assert len(cut) == 1
    for before, after in one_kind("wrong_charset"):
        assert after.reference == before.reference
        assert re.search("[ÃÄÅ�]|ï»¿", after.source)
    for kind in ("misaligned", "number_changed", "negated"):
        for before, after in one_kind(kind):
            assert after.source == before.source
            assert checker.parse(after.reference)
            assert not checker.same_meaning(before.reference, after.reference)
    clean = {(item.source, item.reference) for item in items(1, 99, 150)}
    assert all((one.source, one.reference) in clean for _, one in one_kind("duplicate"))
    sources = {item.source for item in items(1, 100, 150)}
    for before, after in one_kind("wrong_language"):
        assert after.source == before.source
        assert after.reference not in sources
        assert not checker.parse(after.reference)


def test_number_zero_can_be_a_duplicate():
    assert next(items(1, 0, 1, {"duplicate": 1.0})).reference == next(items(1, 1, 1)).reference


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        ({"typos": 0.1}, "no noise of kind 'typos'"),
        ({"copied": 1.5}, "'copied' must be between 0 and 1"),
        ({"copied": float("nan")}, "'copied' must be between 0 and 1"),
        ({"copied": 0.6, "swapped": 0.6}, "sum to 1.2"),
    ],
)
def test_bad_rates(noise, message):
    with pytest.raises(InputError, match=message):
        list(pairs(1, 0, 1, noise))


@pytest.mark.parametrize(("first", "count"), [(-1, 1), (0, -1), (capacity(), 1), (0, 10**12)])
def test_bad_ranges(first, count):
    with pytest.raises(InputError, match="are not among them"):
        list(pairs(1, first, count))


def test_command_line(tmp_path):
    paths = {name: tmp_path / f"{name}.txt" for name in ("source", "reference", "trees", "labels")}
    outputs = [word for name, path in paths.items() for word in (f"--{name}", str(path))]
    generate.main(["--count", "20", "--first", "5", "--noise", "swapped=0.5", *outputs])
    lines = {name: path.read_text("utf-8").split("\n")[:-1] for name, path in paths.items()}
    expected = list(items(1, 5, 20, {"swapped": 0.5}))
    assert lines["source"] == [item.source for item in expected]
    assert lines["reference"] == [item.reference for item in expected]
    assert lines["trees"] == [item.tree for item in expected]
    assert lines["labels"] == [item.noise or "" for item in expected]
    assert 0 < lines["labels"].count("swapped") < 20


def test_command_line_refuses(tmp_path):
    outputs = ["--source", str(tmp_path / "s"), "--reference", str(tmp_path / "r")]
    with pytest.raises(InputError, match="at least 1"):
        generate.main(["--count", "1", "--realisations", "0", *outputs])
    kind = min(KINDS)
    with pytest.raises(InputError, match="--noise names a kind twice"):
        generate.main(["--count", "1", "--noise", f"{kind}=0.1", f"{kind}=0.2", *outputs])
    with pytest.raises(SystemExit):
        generate.main(["--count", "1", "--noise", "swapped", *outputs])
    with pytest.raises(InputError, match="no noise"):
        generate.main(["--count", "1", "--noise", "typos=0.5", *outputs])
    with pytest.raises(InputError, match="r is the file of two outputs"):
        generate.main(["--count", "1", *outputs, "--labels", str(tmp_path / "." / "r")])
    assert list(tmp_path.iterdir()) == []


def test_check_command(tmp_path, capsys):
    """Files are read as those of diversity: a BOM, CRLF, a carriage return that ends no line."""
    found = list(pairs(1, 0, 50, realisations=2))
    references, paraphrases = tmp_path / "r.txt", tmp_path / "p.txt"
    said = "".join(f"{english}\r\n" for _, english, _ in found[::2])
    references.write_bytes(f"\ufeff{said}".encode())
    said = [english for _, english, _ in found[1::2]]
    said[0], said[1], said[2] = "No sentence\rof the grammar", said[5], found[4][1]
    paraphrases.write_text("".join(f"{english}\n" for english in said), "utf-8", newline="")
    check_paraphrases.main(["--references", str(references), "--paraphrases", str(paraphrases)])
    result = json.loads(capsys.readouterr().out)
    assert result.pop("variations")["synonym"] > 30
    assert result == {
        **{"pairs": 50, "parsed": 49, "same_meaning": 48, "copies": 1},
        "same_meaning_share": 96,
    }


def test_check_refuses(tmp_path):
    short, long, bad = tmp_path / "s", tmp_path / "l", tmp_path / "b"
    short.write_text("One.\n", "utf-8")
    long.write_text("One.\nTwo.\n", "utf-8")
    bad.write_bytes(b"\xff\n")
    for references, paraphrases, message in (
        (short, long, "has 1 lines and .* has 2"),
        (long, short, "has 2 lines and .* has 1"),
        (short, tmp_path / "none", "none can't be read"),
        (short, bad, "not UTF-8"),
    ):
        with pytest.raises(InputError, match=message):
            check_paraphrases.main(
                ["--references", str(references), "--paraphrases", str(paraphrases)]
            )


def test_check_of_nothing():
    assert check_paraphrases.check([])["same_meaning_share"] is None
