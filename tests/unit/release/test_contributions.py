"""A stage that the release does not know adds a section and a table."""

import json

import pytest

from tests.configs import run_on_testbed
from tests.unit.made_up_run import write_manifest
from tests.unit.pages import Reader
from tests.unit.release.toy.stage import Toy
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.plan.layout import Layout
from workflow_scripts.stages.catalogue import STAGES
from workflow_scripts.stages.release import report, tables
from workflow_scripts.stages.release.stage import Release


class Rude(Toy):
    name = "rude"

    def sections(self):
        return {80: "tests.unit.release.toy.report:word_counts"}

    def tables(self):
        return {"bins": "tests.unit.release.toy.report:words"}


def declared(*more):
    """The release of the run on the testbed with other stages as well, which may come after it."""
    config = run_on_testbed()
    config["run"]["embeddings"] = []
    return Layout(config, [*STAGES, *more]).stage(Release)


def write_toy(root, count):
    folder = root / "toy" / "v1-0123456789ab"
    write_json(folder / "count.json", {"words": count})
    write_record(folder / "words", 8, 8, {}, files=[folder / "count.json"])
    return {"toy": write_manifest(root, "toy", None, {}, parts=["words"])}


def write_page(run, release, units, output):
    arguments = [*run.arguments(more=units), "--rows", json.dumps(release.rows())]
    report.main([*arguments, "--sections", *release.page_sections(), "--output", str(output)])
    return output.read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_section_stands_at_its_place(run, tmp_path):
    release = declared(Toy)
    assert ("toy", None) in release.reads(None)
    page = write_page(run, release, write_toy(tmp_path, 1234), tmp_path / "report.html")
    reader = Reader(page)
    assert reader.faults == []
    place = reader.ids.index("word_counts")
    assert reader.ids[place - 1 : place + 2] == ["quality", "word_counts", "papers"]
    assert '<li><a href="#word_counts">Word counts</a></li>' in page
    assert "<td>1,234</td>" in page
    assert '<th scope="row">toy</th>' in page  # among the rows of every stage


@pytest.mark.slow
def test_a_section_with_nothing_to_show_is_left_out(run, tmp_path):
    page = write_page(run, declared(Toy), write_toy(tmp_path, 0), tmp_path / "report.html")
    assert "word_counts" not in page


def test_the_table_is_a_file_of_the_release(run, tmp_path):
    release = declared(Toy)
    assert "tables/words.tsv" in release.files(None)
    named = [f"{name}={function}" for name, function in release.released_tables().items()]
    arguments = run.arguments(more=write_toy(tmp_path, 1234))
    tables.main([*arguments, "--tables", *named, "--output", str(tmp_path / "tables")])
    assert (tmp_path / "tables" / "words.tsv").read_text(encoding="utf-8") == "words\n1234\n"


def test_two_sections_of_one_place_and_two_tables_of_one_name_are_refused():
    with pytest.raises(ValueError, match=r"report:quality and .*:word_counts both have"):
        declared(Rude).page_sections()
    with pytest.raises(ValueError, match="both make a table bins"):
        declared(Rude).released_tables()


def test_a_stage_that_the_release_does_not_read_contributes_nothing():
    class Later(Toy):
        released = False

        def reads(self, instance):
            return [("release", None)]

    release = declared(Later)
    assert release.page_sections() == declared().page_sections()
    assert release.released_tables() == declared().released_tables()
