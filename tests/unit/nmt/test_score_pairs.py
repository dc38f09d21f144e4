from pathlib import Path

import pytest

from tests.oracles import Oracle
from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.score_pairs import main


@pytest.fixture
def run(tiny_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture):
    def run(source: str, target: str) -> list[float]:
        (tmp_path / "source").write_text(source)
        (tmp_path / "target").write_text(target)
        paths = (tiny_folder, tmp_path / "source", tmp_path / "target")
        main([f"{o}={p}" for o, p in zip(("--model", "--source", "--target"), paths, strict=True)])
        return [float(line) for line in capsys.readouterr().out.splitlines()]

    return run


def test_prints_one_nll_a_line(run):
    nlls = run("▁4 ▁5\n▁6\n▁4 ▁5\n", "▁7\n▁8 ▁9\n▁7\n")
    assert len(nlls) == 3
    assert nlls[0] == nlls[2] != nlls[1]


def test_equals_sockeye_score(oracle_dir: Path, capsys: pytest.CaptureFixture):
    cases = oracle_dir / "cases"
    paths = (oracle_dir / "model", cases / "score.cs", cases / "score.en")
    main([f"{o}={p}" for o, p in zip(("--model", "--source", "--target"), paths, strict=True)])
    nlls = [float(line) for line in capsys.readouterr().out.splitlines()]
    expected = [float(line) for line in (cases / "score.sockeye3.txt").read_text().split()]
    assert nlls == pytest.approx(expected, abs=1e-4)


def test_raw_text_is_segmented(nmt_oracle: Oracle, oracle_dir: Path, tmp_path: Path, capsys):
    printed = []
    for raw in (0, 1):
        for language, texts in nmt_oracle.segmented.items():
            (tmp_path / language).write_text(texts[raw] + "\n")
        options = {
            "--model": oracle_dir / "model",
            "--source": tmp_path / "cs",
            "--target": tmp_path / "en",
        }
        if not raw:
            options["--spm-source"] = oracle_dir / "spm.cs.model"
            options["--spm-target"] = oracle_dir / "spm.en.model"
        main([str(item) for pair in options.items() for item in pair])
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("▁4\n▁5\n", "▁4\n", "source has 2 lines, .*target has 1"),
        ("▁4\n\n", "▁4\n▁5\n", "source, line 2: 0 pieces"),
        ("▁4\n", "▁4 " * 40 + "\n", "target, line 1: 40 pieces; the model scores 1 to 39"),
    ],
)
def test_bad_files_are_errors(run, source: str, target: str, message: str):
    with pytest.raises(InputError, match=message):
        run(source, target)


def test_missing_files_are_errors(tiny_folder: Path, tmp_path: Path):
    paths = (tiny_folder, tmp_path / "absent", tmp_path / "absent")
    with pytest.raises(InputError, match="absent can't be read: No such file"):
        main([f"{o}={p}" for o, p in zip(("--model", "--source", "--target"), paths, strict=True)])
