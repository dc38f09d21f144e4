"""The site of the documentation: what `make docs` makes of the pages, and what it refuses."""

import logging
import re
from pathlib import Path

import pytest
from markdown import Markdown
from mkdocs.commands.build import build
from mkdocs.config import load_config

from tests.packages import loaded

ROOT = Path(__file__).resolve().parents[2]
links = loaded(ROOT / "docs" / "_site" / "links.py")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site as `make docs` builds it: any warning ends the build."""
    folder = tmp_path_factory.mktemp("site")
    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder), strict=True))
    return folder


@pytest.mark.slow
def test_every_page_is_there(site):
    pages = {file.name for file in (ROOT / "docs").glob("*.md")} | links.PAGES.keys()
    assert pages
    assert all((site / page).with_suffix(".html").is_file() for page in pages)
    assert not list(site.rglob("*.py"))


def test_the_site_is_short_enough_to_be_read():
    """Pages for users, results, and entries of the navigation, at most."""
    docs = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in docs) <= 60_000
    reports = list((ROOT / "reports").glob("*.md"))
    assert 0 < sum(len(page.read_text(encoding="utf-8").split()) for page in reports) <= 25_000
    nav = load_config(str(ROOT / "mkdocs.yml")).nav
    assert sum(len(entries) for group in nav for entries in group.values()) <= 30


def test_nobody_is_said_to_have_read_who_did_not():
    """Labels of ours are a language model's."""
    said = re.compile(
        r"(?i)(read|judged|labelled) by (a|one|two) (person|people|readers?)"
        r"|a person (found|read)|there was one reader"
    )
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "reports").glob("*.md")]
    found = {page.name: said.findall(page.read_text(encoding="utf-8")) for page in pages}
    assert {name: each for name, each in found.items() if each} == {}


def test_nothing_is_loaded_from_elsewhere(site):
    for file in site.glob("*.html"):
        html = file.read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|img|iframe)[^>]*\ssrc=[\"']?([^\"'\s>]+)", html)
        loaded += re.findall(r"<link[^>]*\shref=[\"']?([^\"'\s>]+)", html)
        assert loaded
        assert [address for address in loaded if re.match(r"\w+:|//", address)] == []
        # A page that is opened as a file has no root; 404.html is a server's, for any address.
        rooted = [address for address in loaded if address.startswith("/")]
        assert rooted == [] or file.name == "404.html"


def test_no_text_is_lost_as_a_tag(site):
    """`</s>` outside of code vanishes, on GitHub too."""
    for file in [*(ROOT / "docs").glob("*.md"), *map(ROOT.joinpath, links.PAGES.values())]:
        text = re.sub(r"(?ms)^```.*?^```|`[^`]*`", "", file.read_text(encoding="utf-8"))
        assert re.findall(r"</?[A-Za-z][^>\n]*>", text) == [], file


def render(text, page="systems.md", repository=""):
    extension = links.RepositoryLinksExtension(repository)
    extension.page = page
    return Markdown(extensions=[extension]).convert(text)


@pytest.mark.parametrize(
    ("page", "text", "expected"),
    [
        ("systems.md", "[a](train.md#speed)", '<a href="train.md#speed">a</a>'),
        ("systems.md", "[a](../README.md#b)", '<a href="start.md#b">a</a>'),
        ("start.md", "[a](docs/train.md)", '<a href="train.md">a</a>'),
        ("slurm.md", "[a](../../docs/train.md)", '<a href="train.md">a</a>'),
        (
            "slurm.md",
            "[a](config.yaml)",
            "<span>a (<code>profiles/slurm/config.yaml</code>)</span>",
        ),
        ("systems.md", "[a](https://x.org/y)", '<a href="https://x.org/y">a</a>'),
        ("systems.md", "[a](#b)", '<a href="#b">a</a>'),
        ("systems.md", "[config.yaml](../config.yaml)", "<code>config.yaml</code>"),
        ("systems.md", "[`config.yaml`](../config.yaml), b", "<code>config.yaml</code>, b"),
        (
            "systems.md",
            "[the *old* one](../config.yaml), b",
            "<span>the <em>old</em> one (<code>config.yaml</code>)</span>, b",
        ),
    ],
)
def test_links(page, text, expected):
    assert render(text, page) == f"<p>{expected}</p>"


def test_links_to_files_lead_to_the_repository_where_its_address_is_known():
    def target(text):
        return re.search(r'href="([^"]*)"', render(text, repository="https://x.org/p/"))[1]

    assert target("[a](../recipes/bt2017.yaml)") == "https://x.org/p/blob/main/recipes/bt2017.yaml"
    assert target("[a](../recipes)") == "https://x.org/p/tree/main/recipes"


@pytest.mark.parametrize("target", ["../recipes/none.yaml", "../../README.md"])
def test_a_link_to_a_file_that_is_not_there_is_a_warning(target, caplog):
    with caplog.at_level(logging.WARNING):
        render(f"[a]({target})")
    assert "which is not there" in caplog.text


def test_anchors_are_those_of_github():
    headings = {
        "Columns that a model computes (columns.<name>)": (
            "columns-that-a-model-computes-columnsname"
        ),
        "One's own": "ones-own",
        "From corpus to sts.json, A_b": "from-corpus-to-stsjson-a_b",
    }
    assert {heading: links.github_slug(heading, "-") for heading in headings} == headings
