"""What the declaration of the release says of a run."""

import pytest

from tests.configs import run_on_testbed
from workflow_scripts.stages.catalogue import run_layout


@pytest.mark.parametrize(
    ("licences", "stated"),
    [
        ([None, None], "unknown"),
        (["CC BY 2.0 FR", None], "unknown"),
        (["CC BY 2.0 FR", "CC BY 2.0 FR"], "CC BY 2.0 FR"),
        (["CC BY 2.0 FR", "GPL-3.0-or-later"], "CC BY 2.0 FR; GPL-3.0-or-later"),
    ],
)
def test_the_licence_of_a_release_is_what_its_corpora_state(tmp_path, licences, stated):
    config = run_on_testbed()
    names = [f"corpus{number}" for number in range(len(licences))]
    for name, licence in zip(names, licences, strict=True):
        for side in ("source", "reference"):
            (tmp_path / f"{name}.{side}").write_text("one\n", encoding="utf-8")
        block = {side: str(tmp_path / f"{name}.{side}") for side in ("source", "reference")}
        config["corpora"][name] = block | ({"licence": licence} if licence else {})
    config["run"]["corpora"], config["train"]["corpora"] = names, None
    layout = run_layout(config)
    assert layout.settings(("release", None))["licence"] == stated
    simulated = run_layout(run_on_testbed())
    assert simulated.settings(("release", None))["licence"] == "cc0-1.0"
    # Another licence is no other text.
    for name in names:
        folder = layout.folder("corpus", name)
        config["corpora"][name]["licence"] = "another"
        assert run_layout(config).folder("corpus", name) == folder
