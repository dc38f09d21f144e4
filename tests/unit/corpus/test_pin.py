import hashlib
import io
import zipfile
from pathlib import Path

import pytest
import yaml
from mtdata.entry import Entry

from tests.configs import run_on_testbed
from tests.e2e.micro import merged
from tests.unit.corpus.server import serving
from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.catalogue import run_layout
from workflow_scripts.stages.corpus import pin
from workflow_scripts.stages.corpus.mtdata_index import block_of
from workflow_scripts.stages.corpus.stage import Corpus


def archive(files):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as opened:
        for name, content in files.items():
            opened.writestr(name, content)
    return stream.getvalue()


MOSES = archive({"News.cs-en.cs": "Ahoj.\n", "News.cs-en.en": "Hello.\n", "README": "-"})
TABLE = b"Ahoj.\tHello.\n"


@pytest.fixture
def site():
    with serving({"/cs-en.txt.zip": MOSES, "/t.tsv": TABLE, "/a.cs": b"a\n"}) as site:
        yield site


@pytest.fixture
def recipe(tmp_path, monkeypatch):
    """Write a recipe that adds corpora to the run on the testbed, in an empty working directory."""
    monkeypatch.chdir(tmp_path)

    def write(**corpora):
        path = tmp_path / "recipe.yaml"
        run = {"corpora": ["testbed", *corpora], "systems": ["parabank2"], "name": "x"}
        config = merged(run_on_testbed(), {"run": run, "corpora": corpora})
        path.write_text(yaml.safe_dump(config), encoding="utf-8")
        return path

    return write


def run_pin(path, *more):
    pin.main(["--configfile", str(path), "--output", "pins.yaml", *more])
    return yaml.safe_load(Path("pins.yaml").read_text(encoding="utf-8"))["corpora"]


def layout_with(*files):
    config = run_on_testbed()
    for file in files:
        config = merged(config, yaml.safe_load(Path(file).read_text(encoding="utf-8")))
    return run_layout(config)


def digest(content):
    return hashlib.sha256(content).hexdigest()


@pytest.mark.slow
def test_url_without_a_hash_is_pinned_and_then_read(site, recipe):
    table = {"url": f"{site.url}/t.tsv", "sha256": None, "tsv": "t.tsv"}
    path = recipe(web={**table, "columns": {"source": 0, "reference": 1}})
    with pytest.raises(InputError, match=r"corpora\.web: the sha256 .* is not known yet"):
        layout_with(path)
    assert run_pin(path) == {"web": {"sha256": digest(TABLE), "tsv": "t.tsv"}}
    layout = layout_with(path, "pins.yaml")
    (file,) = layout.stage(Corpus).input_files("web")
    assert Path(file).read_bytes() == TABLE
    assert file == f"downloads/{digest(TABLE)}/t.tsv"
    assert not list(Path("downloads/.unpinned").iterdir())


@pytest.mark.slow
def test_what_an_earlier_call_left_is_no_part_of_what_is_pinned(site, recipe, monkeypatch):
    monkeypatch.setattr("workflow_scripts.stages.corpus.fetch.time.sleep", lambda _: None)
    table = {"url": f"{site.url}/t.tsv", "tsv": "t.tsv", "columns": {"source": 0, "reference": 1}}
    path = recipe(web=table)
    site.cut_after = [4] + [0] * 5
    with pytest.raises(InputError, match=r"gave up after 5 tries that brought nothing$"):
        run_pin(path)
    assert not list(Path("downloads/.unpinned").iterdir())
    site.files["/t.tsv"] = b"Nazdar.\tHi, you.\n"
    assert run_pin(path)["web"]["sha256"] == digest(site.files["/t.tsv"])


def test_patterns_are_pinned_to_the_names_they_mean(site, recipe):
    url = f"{site.url}/cs-en.txt.zip"
    sides = {"source": "cs-en.txt.zip/*.cs", "reference": "cs-en.txt.zip/*.en"}
    found = run_pin(recipe(news={"url": url, **sides}))["news"]
    assert found["source"] == "cs-en.txt.zip/News.cs-en.cs"
    assert found["reference"] == "cs-en.txt.zip/News.cs-en.en"


@pytest.mark.slow
def test_id_of_mtdata_is_pinned(site, recipe, monkeypatch):
    def find(identity):
        return Entry(identity, f"{site.url}/cs-en.txt.zip", in_paths=["*.cs", "*.en"], in_ext="txt")

    monkeypatch.setattr("workflow_scripts.stages.corpus.mtdata_index.find", find)
    path = recipe(news={"mtdata": "OPUS-news-v1-ces-eng"})
    with pytest.raises(InputError, match=r"corpora\.news: the sha256"):
        layout_with(path)
    assert run_pin(path)["news"] == {
        "url": f"{site.url}/cs-en.txt.zip",
        "source": "cs-en.txt.zip/News.cs-en.cs",
        "reference": "cs-en.txt.zip/News.cs-en.en",
        "sha256": digest(MOSES),
    }
    layout = layout_with(path, "pins.yaml")
    assert layout.settings(("corpus", "news"))["block"]["source"] == [
        f"downloads/{digest(MOSES)}/cs-en.txt.zip/News.cs-en.cs"
    ]


def test_files_at_hand_are_taken_instead(site, recipe, tmp_path):
    given = tmp_path / "given"
    given.mkdir()
    (given / "t.tsv").write_bytes(b"Nazdar.\tHi.\n")
    columns = {"source": 0, "reference": 1}
    path = recipe(web={"url": f"{site.url}/t.tsv", "tsv": "t.tsv", "columns": columns})
    found = run_pin(path, "--from", str(given))
    assert found["web"]["sha256"] == digest(b"Nazdar.\tHi.\n")
    assert not site.requests
    assert (given / "t.tsv").exists()


def test_what_is_pinned_is_not_fetched(site, recipe, capsys):
    table = {"url": f"{site.url}/t.tsv", "sha256": digest(TABLE), "tsv": "t.tsv"}
    path = recipe(web={**table, "columns": {"source": 0, "reference": 1}})
    pin.main(["--configfile", str(path), "--output", "pins.yaml"])
    assert "Nothing to pin" in capsys.readouterr().out
    assert not site.requests
    assert not Path("pins.yaml").exists()


def test_member_that_is_not_there_is_named(site, recipe):
    sides = {"source": "cs-en.txt.zip/*.de", "reference": "cs-en.txt.zip/*.en"}
    path = recipe(news={"url": f"{site.url}/cs-en.txt.zip", **sides})
    with pytest.raises(InputError, match=r"corpora\.news: .*no file \*\.de in it; there are News"):
        run_pin(path)


# --- mtdata's entries ---------------------------------------------------------------------------


def test_sides_follow_the_languages_of_the_entry():
    entry = Entry(
        "OPUS-x-v1-ces-eng", "http://x/cs-en.zip", in_paths=["*.cs", "*.en"], in_ext="txt"
    )
    assert block_of(entry, "cs", "en")["source"] == "{0}/*.cs"
    assert block_of(entry, "en", "cs")["source"] == "{0}/*.en"
    table = Entry("Statmt-x-1-deu-eng", "http://x/de-en.tsv.gz")
    assert block_of(table, "en", "de") == {
        "url": "http://x/de-en.tsv.gz",
        "tsv": "{0}",
        "columns": {"source": 1, "reference": 0},
    }


def test_two_urls_are_two_files():
    entry = Entry("X-x-1-ces-eng", ("http://x/a.cs", "http://x/a.en"), ext="txt", filename="x")
    assert block_of(entry, "en", "cs") == {
        "url": ["http://x/a.cs", "http://x/a.en"],
        "source": "{1}",
        "reference": "{0}",
    }


def test_other_languages_and_formats_are_refused():
    table = Entry("Statmt-x-1-deu-eng", "http://x/de-en.tsv.gz")
    with pytest.raises(InputError, match=r"its languages are deu and eng, and not .* ces and eng"):
        block_of(table, "cs", "en")
    entry = Entry("ELRC-x-1-ces-eng", "http://x/a.zip", in_paths=["a.tmx"], in_ext="tmx")
    with pytest.raises(InputError, match="an archive of tmx can't be read"):
        block_of(entry, "cs", "en")
    dialects = Entry("X-x-1-por-por_BR", "http://x/pt.tsv.gz")
    with pytest.raises(InputError, match="both sides are por, so which is the source"):
        block_of(dialects, "pt", "pt")
    entry = Entry("X-x-1-ces-eng", "http://x/a.tmx.gz")
    with pytest.raises(InputError, match=r"tmx\.gz can't be read"):
        block_of(entry, "cs", "en")


def test_tar_of_tables_with_columns():
    entry = Entry(
        "X-x-1-ces-eng", "http://x/a.tar", in_paths=["a.tsv", "b.tsv"], in_ext="tsv", cols=(2, 3)
    )
    block = block_of(entry, "cs", "en")
    assert block["tsv"] == ["{0}/a.tsv", "{0}/b.tsv"]
    assert block["columns"] == {"source": 2, "reference": 3}
