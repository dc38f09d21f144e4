"""The engine of stages: order, circles, and what a declaration that says nothing more means."""

import copy

import pytest

from tests.configs import run_on_testbed
from tests.toy_stage.stage import Toy
from workflow_scripts.core.errors import InputError
from workflow_scripts.plan.layout import Layout
from workflow_scripts.plan.stage import Stage
from workflow_scripts.stages.catalogue import STAGES


class Plain(Stage):
    """A stage that says no more than it must."""

    name = "plain"
    version = 3
    row = "rows"
    released = False
    read: tuple = ()

    def instances(self):
        return ["a", "b"]

    def reads(self, instance):
        return list(self.read)

    def settings(self, instance):
        return {"instance": instance}


@pytest.fixture
def config(tmp_path):
    config = run_on_testbed()
    return config | {"results": str(tmp_path / "results")}


@pytest.fixture
def with_toy(config, monkeypatch):
    monkeypatch.setattr("workflow_scripts.plan.layout.validate", lambda config, _: config)
    return config | {"toy": {"min_words": 1}}


def test_a_plain_stage_has_neither_shards_nor_records(config):
    layout = Layout(config, [*STAGES, Plain])
    unit = ("plain", "a")
    assert unit in layout.units()
    assert layout.key(*unit).startswith("v3-")
    assert layout.key(*unit) != layout.key("plain", "b")
    assert layout.records(*unit) == []
    declaration = layout.stage(Plain)
    assert (declaration.files("a"), declaration.outside("a"), declaration.jobs("a")) == ([], [], 0)
    assert declaration.wildcards() == {}
    assert declaration.content("a") == declaration.settings("a")


def test_a_new_stage_leaves_the_others_where_they_are(config):
    before, after = Layout(config, STAGES), Layout(config, [*STAGES, Plain])
    assert [unit for unit in after.units() if unit[0] != "plain"] == before.units()
    assert all(after.folder(*unit) == before.folder(*unit) for unit in before.units())


def test_a_stage_may_read_the_release(with_toy):
    layout = Layout(with_toy, [*STAGES, Toy])
    assert layout.units()[-1] == ("toy", None)
    assert layout.upstream(("toy", None)) == [("release", None)]
    assert ("toy", None) not in layout.upstream(("release", None))


def test_a_circle_through_the_release_is_named(with_toy):
    class Released(Toy):
        released = True

    message = r"units read each other in a circle: release reads toy reads release"
    with pytest.raises(InputError, match=message):
        Layout(with_toy, [*STAGES, Released])


def test_a_unit_that_reads_itself_is_named(config):
    class Narcissus(Plain):
        read = (("plain", "a"),)

    with pytest.raises(InputError, match="circle: plain/a reads plain/a"):
        Layout(config, [*STAGES, Narcissus])


def test_what_is_read_comes_before_its_reader_whatever_the_order_of_the_stages(config):
    layout = Layout(config, STAGES[::-1])
    units = layout.units()
    assert all(
        units.index(each) < units.index(unit) for unit in units for each in layout.upstream(unit)
    )
    assert set(units) == set(Layout(config, STAGES).units())


def test_an_unknown_stage_is_named(config):
    with pytest.raises(ValueError, match="unknown stage nothing"):
        Layout(config, STAGES).folder("nothing")


def test_all_that_a_unit_stands_on(config):
    found = Layout(copy.deepcopy(config), STAGES).all_upstream([("clean", None)])
    assert {stage for stage, _ in found} == {"clean", "corpus"}


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_every_declaration_is_in_the_package_of_its_name(stage):
    assert stage.__module__ == f"workflow_scripts.stages.{stage.name}.stage"
    assert stage.row
    assert isinstance(stage.released, bool)
