"""A stage whose output changes must say so by its version (DESIGN 4).

Snakemake can't see edits in imported modules: without another version, files of the old and of the
new code would stand side by side in one folder.
"""

import pytest

from tests.e2e import golden
from workflow_scripts.stages import STAGES

UPDATE = "then run `python -m tests.e2e.golden {stage}`"


@pytest.mark.parametrize("stage", [stage.name for stage in STAGES])
def test_output_changes_only_with_the_version(stage, tmp_path):
    found, expected = golden.measured(stage, tmp_path), golden.read_golden()[stage]
    update = UPDATE.format(stage=stage)
    assert found["version"] == expected["version"], (
        f"golden.json holds version {expected['version']} of the stage {stage}: "
        f"see that its new output is what you want, {update}"
    )
    changed = golden.differences(stage, found["outputs"], expected["outputs"])
    assert not changed, (
        f"the stage {stage} has another output than before: {', '.join(changed)}. If that is not "
        f"what you want, mend it. If it is, raise the version in "
        f"workflow_scripts/{stage}/stage.py, so that no old result is taken for a new one, {update}"
    )


def test_a_changed_text_is_a_difference_and_a_last_digit_is_not():
    def changed(text, number, stage="score"):
        before, after = ({"a": [{"text": t, "nll": n}]} for t, n in (("x", 2.5), (text, number)))
        return golden.differences(stage, golden.figures(after), golden.figures(before))

    assert changed("x", 2.5 + 1e-6) == []
    assert changed("x", 2.51) == ["a"]
    assert changed("y", 2.5) == ["a"]
    assert changed("x", 2.51, stage="train") == []
    assert changed("x", None) == ["a"]


def test_exchanged_numbers_are_a_difference():
    one, other = golden.figures({"a": [1.0, 3.0]}), golden.figures({"a": [3.0, 1.0]})
    assert golden.differences("score", one, other) == ["a"]
