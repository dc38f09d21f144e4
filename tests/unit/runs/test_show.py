import pytest
import yaml

from tests.tables import pair, paraphrase, selected, write_table
from workflow_scripts.commands.runs.__main__ import main
from workflow_scripts.commands.runs.show import WIDTH
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.files.rows import ParaphrasesRow
from workflow_scripts.stages.release.export import export

LONG = "so very long that it needs a second line " * 3
REFERENCES = {f"c:{number}": f"Reference {number} is here." for number in range(1, 41)}


def write_release(run, system, texts, probability=None):
    """A release of `REFERENCES` with these paraphrases by id, each a text and its score."""
    rows = [
        selected(
            pair(identifier, reference=reference),
            [
                paraphrase(rank, text, backward=None, sum=total, probability=probability)
                for rank, (text, total) in enumerate(texts.get(identifier, []), 1)
            ],
        )
        for identifier, reference in REFERENCES.items()
    ]
    shard = write_table(run / "select" / system / "0000.parquet", ParaphrasesRow, rows)
    export([shard], run / "release" / system, 5, "en")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Of the references with even numbers `many` has two paraphrases, of c:3 `best` has one."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "runs" / "mine"
    even = [identifier for identifier in REFERENCES if not int(identifier[2:]) % 2]
    write_release(folder, "many", {each: [(f"One of {each}.", 1.25), (LONG, 2.5)] for each in even})
    write_release(folder, "best", {"c:3": [("The best of c:3.", None)]})
    systems = {"many": {"select": {"method": "nbest"}}, "best": {"select": {"method": "best"}}}
    config = {"results": "results", "run": {"corpora": [], "systems": list(systems)}}
    config |= {"corpora": {}, "systems": systems}
    (folder / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    write_json(folder / "release" / "manifest.json", {})
    return folder


def shown(capsys, *options):
    main(["show", "mine", *options])
    return capsys.readouterr().out


def test_the_probability_of_a_judge_stands_beside_the_sum(run, capsys):
    write_release(run, "best", {"c:3": [("The best of c:3.", 1.25)]}, 0.625)
    text = shown(capsys, "--examples", "40")
    assert "  best   1.25   0.62  The best of c:3." in text.splitlines()
    assert "  many   1.25         One of c:8." in text.splitlines()
    assert "the judge's probability: higher is better." in " ".join(text.split())


def test_of_a_merge_no_order_of_nlls_is_told(run, capsys):
    path = run / "config.yaml"
    config = yaml.safe_load(path.read_text(encoding="utf-8"))
    config["systems"]["many"]["merge"] = {"cs": {"run": "cs-en", "system": "bt2017"}}
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    last = " ".join(shown(capsys, "--examples", "2").split())
    assert "forward NLLs" not in last
    assert last.endswith("many: merged from other runs, whose sums can't be compared.")


def test_references_with_paraphrases_by_every_system_in_lines_of_a_terminal(run, capsys):
    text = shown(capsys, "--examples", "40")
    assert max(map(len, text.splitlines())) <= WIDTH
    *entries, last = text.split("\n\n")
    assert last.startswith("21 of 40 references, drawn among those that have paraphrases.")
    assert " ".join(last.split()).endswith("The order of many is that of the forward NLLs alone.")
    assert len(entries) == 21
    (entry,) = (each for each in entries if each.startswith("Reference 8 "))
    reference, first, *second, other = entry.splitlines()
    assert reference == "Reference 8 is here."
    assert first == "  many   1.25  One of c:8."
    assert second[0].startswith("         2.50  so very long that it needs")
    assert " ".join([second[0][15:], *(line.strip() for line in second[1:])]) == LONG.strip()
    assert all(line[:15].isspace() and line[15] != " " for line in second[1:])
    assert other.split() == ["best", "(none)"]
    (entry,) = (each for each in entries if each.startswith("Reference 3 "))
    assert entry.splitlines()[1].split() == ["many", "(none)"]
    assert entry.splitlines()[2] == "  best         The best of c:3."


@pytest.mark.slow
def test_the_seed_draws(run, capsys):
    ten = shown(capsys, "--examples", "10")
    assert ten.count("Reference ") == 10
    assert ten == shown(capsys, "--examples", "10", "--seed", "1")
    assert ten != shown(capsys, "--examples", "10", "--seed", "2")
    assert shown(capsys).count("Reference ") == 20


def test_a_run_comes_before_another_folder_of_its_name(run, capsys):
    """The repository has a folder `demo`, and `make demo` a run of that name."""
    expected = shown(capsys)
    (run.parents[1] / "mine").mkdir()
    assert shown(capsys) == expected
    main(["show", str(run)])
    assert capsys.readouterr().out == expected


def test_what_cannot_be_shown_is_told(run):
    path = run / "release" / "best" / "paraphrases.parquet"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(InputError, match=r"paraphrases\.parquet"):
        main(["show", "mine"])
    config = (run / "config.yaml").read_text(encoding="utf-8")
    none = yaml.safe_load(config) | {"run": {"corpora": [], "systems": []}}
    (run / "config.yaml").write_text(yaml.safe_dump(none), encoding="utf-8")
    with pytest.raises(InputError, match="no system of the run, no paraphrases"):
        main(["show", "mine"])
    (run / "config.yaml").write_text(config, encoding="utf-8")
    (run / "release" / "manifest.json").unlink()
    with pytest.raises(InputError, match="the run is not finished; see paraloom status"):
        main(["show", str(run)])
    with pytest.raises(InputError, match="runs/other: no run there"):
        main(["show", "other"])
