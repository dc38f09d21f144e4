"""The command line of a job follows from the signature of its function."""

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from workflow_scripts.core.command import command
from workflow_scripts.core.device import Device
from workflow_scripts.core.errors import InputError

TOLD: dict[str, Any] = {}


def job(
    config: dict[str, Any],
    folder: Path,
    shards: int,
    output: Path,
    some_pairs: list[Path] | None = None,
    units: dict[str, Path] | None = None,
    language: str | None = None,
    share: float = 0.5,
    device: Device = "auto",
    quick: bool = False,
    threads: int = 1,
) -> None:
    """Do the work.

    More is told here.
    """
    TOLD.clear()
    TOLD.update(locals())


main = command(job, __name__)
NEEDED = ["--config", '{"seed": 1}', "--folder", "a b", "--shards", "2", "--output", "out"]


def test_options_are_the_parameters_with_their_types_and_defaults():
    main(NEEDED)
    assert {
        **{"config": {"seed": 1}, "folder": Path("a b"), "shards": 2, "output": Path("out")},
        **{"some_pairs": None, "units": None, "language": None, "share": 0.5},
        **{"device": "auto", "quick": False, "threads": 1},
    } == TOLD


def test_options_that_may_be_left_out():
    more = ["--some-pairs", "1", "2", "--units", "a=x/y=z", "b=.", "--language", "de"]
    main([*NEEDED, *more, "--share", ".25", "--device", "cpu", "--quick"])
    assert TOLD["some_pairs"] == [Path("1"), Path("2")]
    assert TOLD["units"] == {"a": Path("x/y=z"), "b": Path()}
    assert (TOLD["language"], TOLD["share"], TOLD["device"]) == ("de", 0.25, "cpu")
    assert TOLD["quick"] is True


def test_long_values_come_in_files(tmp_path):
    (tmp_path / "config.json").write_text('{"seed": 7}', encoding="utf-8")
    (tmp_path / "pairs.json").write_text(json.dumps(["1", "2"]), encoding="utf-8")
    config = ["--config", f"@{tmp_path / 'config.json'}"]
    main([*NEEDED[2:], *config, "--some-pairs", f"@@{tmp_path / 'pairs.json'}"])
    assert TOLD["config"] == {"seed": 7}
    assert TOLD["some_pairs"] == [Path("1"), Path("2")]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (NEEDED[2:], "required: --config"),
        ([*NEEDED, "--shard", "1"], "unrecognized arguments: --shard"),
        ([*NEEDED, "--shards", "two"], "--shards: invalid int value: 'two'"),
        ([*NEEDED, "--device", "tpu"], "invalid choice: 'tpu'"),
        ([*NEEDED, "--units", "a"], "'a' is no NAME=PATH"),
        ([*NEEDED, "--units", "a="], "--units: a: an empty path"),
        ([*NEEDED, "--units", "a=x", "--units", "b=y"], "--units: it stands there twice"),
        ([*NEEDED, "--config", "{"], "--config: invalid"),
        ([*NEEDED[2:], "--config", '{"a": 1, "a": 2}'], "JSON: key 'a' stands there twice"),
        ([*NEEDED, "--config", "[1]"], "--config: invalid JSON: it must be an object"),
        ([*NEEDED, "--shards", "3"], "--shards: it stands there twice, and what comes first"),
        ([*NEEDED, *["--some-pairs", "1"] * 2], "--some-pairs: it stands there twice"),
        ([*NEEDED, "--some-pairs", ""], "--some-pairs: an empty path"),
        ([*NEEDED, "--share", "nan"], "--share: invalid float value: 'nan'"),
        ([*NEEDED, "--threads", "0"], "--threads: 0 is below 1"),
    ],
)
def test_a_wrong_or_missing_name_is_an_error_before_the_work(words, message, capsys):
    TOLD.clear()
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
    assert not TOLD


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--config", "@none.json"], "@none.json: the file can't be read as JSON: No such file"),
        (["@@none.json"], "none.json: the file can't be read"),
        (["@@numbers.json"], "@@numbers.json: the file holds no JSON list of words"),
    ],
)
def test_values_in_json_that_are_none(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("numbers.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(InputError, match=message):
        main([*NEEDED, *words])


def test_a_key_that_is_not_there_is_told_with_its_file_where_it_is_asked_for(tmp_path):
    path = tmp_path / "config.json"
    path.write_text('{"runs": [{"name": "a"}, {"a b": {}}]}', encoding="utf-8")
    main([*NEEDED[2:], "--config", f"@{path}"])
    config = TOLD["config"]
    assert "seed" not in config and config.get("seed") is None
    for asked, key in (
        (lambda: config["seed"], "seed"),
        (lambda: config["runs"][1]["name"], r"runs\[1\]\.name"),
        (lambda: pickle.loads(pickle.dumps(config))["runs"][1]["a b"]["c"], r"runs\[1\]\.a b\.c"),
    ):
        with pytest.raises(InputError, match=f"config.json: the key '{key}' is missing; put it in"):
            asked()
    main(NEEDED)
    with pytest.raises(InputError, match=r'^{"seed": 1}: the key .steps. is missing'):
        TOLD["config"]["steps"]


def test_help_says_what_the_command_does(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    told = capsys.readouterr().out
    assert "Do the work." in told
    assert "More is told" not in told
    assert "--some-pairs" in told
