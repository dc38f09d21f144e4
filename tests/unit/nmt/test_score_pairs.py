from pathlib import Path

import pytest

from tests.oracles import Oracle
from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.score_pairs import main


def test_prints_one_nll_a_line(nlls, tiny_folder: Path):
    found = nlls(tiny_folder, ["▁4 ▁5", "▁6", "▁4 ▁5"], ["▁7", "▁8 ▁9", "▁7"])
    assert len(found) == 3
    assert found[0] == found[2] != found[1]


def test_equals_sockeye_score(nlls, oracle_dir: Path):
    cases = oracle_dir / "cases"
    sides = [(cases / name).read_text().splitlines() for name in ("score.cs", "score.en")]
    expected = [float(line) for line in (cases / "score.sockeye3.txt").read_text().split()]
    assert nlls(oracle_dir / "model", *sides) == pytest.approx(expected, abs=1e-4)


def test_raw_text_is_segmented(nlls, nmt_oracle: Oracle):
    folder = nmt_oracle.folder
    named = ["--spm-source", folder / "spm.cs.model", "--spm-target", folder / "spm.en.model"]
    texts, pieces = zip(nmt_oracle.segmented["cs"], nmt_oracle.segmented["en"], strict=True)
    found = nlls(folder / "model", *([text] for text in texts), *named)
    assert found == nlls(folder / "model", *([text] for text in pieces))


@pytest.mark.parametrize(
    ("sources", "targets", "message"),
    [
        (["▁4", "▁5"], ["▁4"], "source has 2 lines, .*target has 1"),
        (["▁4", ""], ["▁4", "▁5"], "source, line 2: 0 pieces"),
        (["▁4"], ["▁4 " * 40], "target, line 1: 40 pieces; the model scores 1 to 39"),
    ],
)
def test_bad_files_are_errors(nlls, tiny_folder: Path, sources, targets, message: str):
    with pytest.raises(InputError, match=message):
        nlls(tiny_folder, sources, targets)


def test_missing_files_are_errors(tiny_folder: Path):
    with pytest.raises(InputError, match="absent can't be read: No such file"):
        main(["--model", str(tiny_folder), "--source", "absent", "--target", "absent"])
