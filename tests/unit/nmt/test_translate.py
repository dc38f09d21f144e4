from functools import partial
from pathlib import Path

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.sampling import SampleRequest, sample

LINES = [
    {"text": "▁4 ▁5 ▁6"},
    {"text": "▁7 ▁8", "avoid": ["▁9", "<s> ▁10", "▁11 ▁12"], "id": "mine", "set": 3},
    {"text": "▁7 ▁8", "avoid": [], "id": 7},
]


@pytest.fixture
def run(translated, tiny_folder: Path):
    return partial(translated, tiny_folder)


def test_lines_repeat_their_input_and_add_the_translation(run):
    output = run(LINES)
    for line, added in zip(LINES, output, strict=True):
        assert added.keys() == line.keys() | {"translation", "score"}
        assert {**added, **line} | {key: added[key] for key in ("translation", "score")} == added
        assert added["score"] > 0


def test_the_output_can_be_the_input_again(run):
    listed = run(LINES, "--nbest", "2")
    # Nothing of the first search is left, neither its lists nor its translation.
    again = run(listed)
    assert again == run(LINES)
    assert run(again, "--nbest", "2") == listed


def test_nbest_lists_are_flat_and_best_first(run):
    for line in run(LINES, "--beam-size", "6", "--nbest", "4"):
        assert len(line["translations"]) == len(line["scores"]) == 4
        assert line["scores"] == sorted(line["scores"])
        assert (line["translation"], line["score"]) == (line["translations"][0], line["scores"][0])
        assert "unmet" not in line


@pytest.mark.slow
def test_samples_keep_their_order_and_count_what_was_dropped(run):
    options = ("--sample", "8", "--samples", "20")
    output = run(LINES, *options, "--seed", "5", "--batch-rows", "7")
    for line in output:
        assert len(line["translations"]) == len(line["scores"]) == 20 - line["dropped"]
        if line["scores"]:
            place = line["scores"].index(min(line["scores"]))
            best = line["scores"][place], line["translations"][place]
            assert (line["score"], line["translation"]) == best
        else:
            assert line["score"] is line["translation"] is None
    for line, other in zip(output, run(LINES, *options, "--seed", "5"), strict=True):
        assert line["translations"] == other["translations"]
        assert line["scores"] == pytest.approx(other["scores"], abs=1e-5)
    assert run(LINES, *options, "--seed", "0") != run(LINES, *options, "--seed", "1")


@pytest.mark.slow
def test_samples_are_truncated_as_the_options_say(run, tiny: Model):
    options = {"k": "--sample", "top_p": "--top-p", "min_p": "--min-p", "epsilon": "--epsilon"}
    line = {"text": "▁4 ▁5 ▁6 ▁7"}
    requests = [SampleRequest("1", 0, tiny.source_vocab.ids(line["text"].split()), [])]
    common = ["--samples", "9", "--seed", "4", "--temperature", "1.3"]
    cuts = [{"k": 6}, {"top_p": 0.7}, {"min_p": 0.2}, {"epsilon": 0.04}, {"k": 6, "top_p": 0.7}]
    seen = set()
    for cut in cuts:
        given = [part for name, value in cut.items() for part in (options[name], str(value))]
        [output] = run([line], *given, *common)
        (expected,) = sample(tiny, requests, samples=9, seed=4, temperature=1.3, **cut)
        texts = [" ".join(tiny.target_vocab.pieces(each)) for each in expected.outputs]
        assert output["translations"] == texts
        seen.add(tuple(texts))
    assert len(seen) == 5


def test_id_and_set_seed_the_samples(run):
    lines = [
        {"text": "▁4 ▁5 ▁6 ▁7"},
        {"text": "▁4 ▁5 ▁6 ▁7", "id": 1},
        {"text": "▁4 ▁5 ▁6 ▁7", "id": "1", "set": 1},
    ]
    first, same, other = (
        line["translations"] for line in run(lines, "--sample", "20", "--samples", "9")
    )
    assert first == same != other


def test_unmet_constraints_are_said(run):
    [line] = run([{"text": "▁4", "constraints": ["▁5", "▁5 ▁6 ▁7 ▁8 ▁9", "▁unknown"]}])
    assert line["translation"] is None
    assert line["score"] is None
    assert "▁unknown" in line["unmet"]
    assert "▁5 ▁6 ▁7 ▁8 ▁9" in line["unmet"]


def test_a_wanted_phrase_wins_over_an_avoided_one(run, capsys: pytest.CaptureFixture):
    [line] = run([{"text": "▁4 ▁5 ▁6", "constraints": ["▁7 ▁8"], "avoid": ["▁8", "▁9"]}])
    assert "▁7 ▁8" in line["translation"]
    assert "warning: line 1: '▁8' is avoided and wanted" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("no json", "no JSON"),
        ("[]", 'string "text"'),
        ({"text": 5}, 'string "text"'),
        ({"text": ""}, "0 pieces"),
        ({"text": "▁4 " * 50}, "50 pieces; the model takes 1 to 39"),
        ({"text": "▁4", "avoid": "▁5"}, '"avoid" must be a list'),
        ({"text": "▁4", "avoid": [" "]}, '"avoid" has an empty phrase'),
        ({"text": "▁4", "avoid": ["<s>"]}, '"avoid" has an empty phrase'),
        ({"text": "▁4", "constraints": ["▁5"] * 63}, '63 "constraints"'),
        ({"text": "▁4", "constraints": [5]}, '"constraints" must be a list'),
        ({"text": "▁4", "id": []}, '"id"'),
        ({"text": "▁4", "set": True}, '"set" an integer'),
        ({"text": "▁4", "avod": ["▁5"]}, "unknown key 'avod'; did you mean 'avoid'"),
        ({"txt": "▁4"}, "unknown key 'txt'; did you mean 'text'"),
        ({"text": "▁4", "note": 1}, "unknown key 'note'; known keys: avoid, constraints, id, set"),
        ('{"text": "▁4", "avoid": ["▁5"], "avoid": []}', "key 'avoid' stands there twice"),
        ('{"text": "\udcff"}', "is not UTF-8; convert"),
    ],
)
def test_bad_lines_are_errors_with_their_number(run, tmp_path: Path, line, message: str):
    with pytest.raises(InputError, match=rf"in\.jsonl, line 2:? .*{message}"):
        run([{"text": "▁4"}, line])
    assert not (tmp_path / "out.jsonl").exists()


def test_positive_constraints_do_not_go_with_samples(run):
    with pytest.raises(InputError, match="line 1: samples cannot"):
        run([{"text": "▁4", "constraints": ["▁5"]}], "--sample", "3")


@pytest.mark.parametrize(
    "options",
    [
        ("--sample", "3", "--nbest", "2"),
        ("--top-p", "0.5", "--beam-size", "2"),
        ("--samples", "3"),
        ("--seed", "1"),
    ],
)
def test_options_of_the_other_kind_of_search_are_refused(run, options: tuple[str, ...]):
    with pytest.raises(SystemExit):
        run([], *options)
