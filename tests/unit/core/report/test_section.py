import pytest

from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.core.report.section import Section, load, sections
from workflow_scripts.stages.catalogue import STAGES

TOY = "tests.unit.release.toy.report:word_counts"


def test_a_section_is_called_as_its_function():
    assert Section("word_counts", "").title == "Word counts"


def test_a_function_that_is_not_there_is_named():
    for function in ("workflow_scripts.nowhere:one", "workflow_scripts.stages.train.report:two"):
        with pytest.raises(ValueError, match=f"a stage declares {function}, which is not there"):
            load(function)


def test_a_name_stands_once_on_a_page(monkeypatch):
    from tests.unit.release.toy import report

    monkeypatch.setattr(report, "word_counts", lambda run: {"count": 3})
    run = FinishedRun({}, [])
    assert [each.name for each in sections([TOY], run)] == ["word_counts"]
    with pytest.raises(ValueError, match="the page has a section word_counts already"):
        sections([TOY, TOY], run)


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_what_a_stage_declares_is_there_and_in_its_own_package(stage, release):
    declaration = release.layout.stage(stage)
    package = f"workflow_scripts.stages.{stage.name}."
    for function in (*declaration.sections().values(), *declaration.tables().values()):
        assert function.startswith(package)
        assert callable(load(function))
