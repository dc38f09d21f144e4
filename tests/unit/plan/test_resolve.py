import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.plan.resolve import DEFAULTS, require_given_once, resolve


def test_files_and_settings_are_laid_over_the_defaults(tmp_path):
    (tmp_path / "a.yaml").write_text("shards: {early: 8}\nrun: {corpora: [a]}\n", encoding="utf-8")
    (tmp_path / "b.json").write_text('{"shards": {"early": 4, "late": 4}}', encoding="utf-8")
    config = resolve([tmp_path / "a.yaml", tmp_path / "b.json"], ["data=/x", "seed=7"])
    assert config["shards"] == {"early": 4, "late": 4}
    assert config["run"]["corpora"] == ["a"]
    assert config["run"]["name"] == resolve([], [])["run"]["name"]
    assert (config["data"], config["seed"]) == ("/x", 7)
    assert DEFAULTS.is_file()


@pytest.mark.parametrize(
    ("files", "settings", "message"),
    [(["none.yaml"], [], "No such file or directory: 'none.yaml'"), ([], ["data"], "name=value")],
)
def test_what_is_wrong_is_told(files, settings, message):
    with pytest.raises(InputError, match=message):
        resolve(files, settings)


def test_an_option_that_snakemake_would_take_twice_is_refused(monkeypatch):
    names = ("--configfile", "--configfiles")
    monkeypatch.setattr("sys.argv", ["snakemake", "--configfile", "a.yaml", "b.yaml"])
    require_given_once(*names)
    monkeypatch.setattr("sys.argv", ["snakemake", "--configfile", "a", "--configfiles=b"])
    with pytest.raises(InputError, match="--configfile stands twice in the command line"):
        require_given_once(*names)
