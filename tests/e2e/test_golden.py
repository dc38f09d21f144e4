"""A stage whose output changes must say so by its version.

Why: docs/architecture.md, "Versioned files".

Snakemake can't see edits in imported modules: without another version, files of the old and of the
new code would stand side by side in one folder.
"""

from pathlib import Path

import pytest

from tests.golden import entries
from tests.golden.figures import differences, figures
from workflow_scripts.stages.catalogue import STAGES

FOLDER = Path(entries.__file__).parent
UPDATE = "then run `python -m tests.golden {stage}`"
NAMES = [stage.name for stage in STAGES]
# Modules of tests/golden that are no stage's.
COMMON = {"__main__", "entries", "figures", "inputs", "models"}


@pytest.mark.parametrize("stage", NAMES)
def test_each_stage_has_its_golden_output(stage):
    assert callable(entries.outputs_of(stage))
    assert stage in entries.read_golden()


def test_a_stage_without_golden_output_is_named():
    with pytest.raises(LookupError, match=r"the stage nothing .* tests/golden/nothing\.py"):
        entries.outputs_of("nothing")


def test_there_is_golden_output_of_stages_alone():
    modules = {path.stem for path in FOLDER.glob("*.py")}
    assert modules - COMMON == entries.read_golden().keys() == set(NAMES)


@pytest.mark.parametrize("stage", NAMES)
def test_output_changes_only_with_the_version(stage, tmp_path):
    found, expected = entries.measured(stage, tmp_path), entries.read_golden()[stage]
    update = UPDATE.format(stage=stage)
    assert found["version"] == expected["version"], (
        f"golden.json holds version {expected['version']} of the stage {stage}: "
        f"see that its new output is what you want, {update}"
    )
    changed = differences(stage, found["outputs"], expected["outputs"])
    assert not changed, (
        f"the stage {stage} has another output than before: {', '.join(changed)}. If that is not "
        f"what you want, mend it. If it is, raise the version in "
        f"workflow_scripts/stages/{stage}/stage.py, so that no old result is taken for a new one, "
        f"{update}"
    )


def test_a_changed_text_is_a_difference_and_a_last_digit_is_not():
    def changed(text, number, stage="score"):
        before, after = ({"a": [{"text": t, "nll": n}]} for t, n in (("x", 2.5), (text, number)))
        return differences(stage, figures(after), figures(before))

    assert changed("x", 2.5 + 1e-6) == []
    assert changed("x", 2.51) == ["a"]
    assert changed("y", 2.5) == ["a"]
    assert changed("x", 2.51, stage="train") == []
    assert changed("x", None) == ["a"]


def test_exchanged_numbers_are_a_difference():
    one, other = figures({"a": [1.0, 3.0]}), figures({"a": [3.0, 1.0]})
    assert differences("score", one, other) == ["a"]
