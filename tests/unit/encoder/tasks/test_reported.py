import pytest

from tests.unit.encoder.tasks.samples import PASSAGE, qqp, sick, squad, stsb_dev
from workflow_scripts.stages.embed.prepared import key
from workflow_scripts.stages.encoder.tasks.reported import files, reported


def write_qqp(folder):
    qqp(folder, [("what is it", "which is it", 1)])
    qqp(folder, [("who are you", "Who is this?", 0)], "dev")


@pytest.mark.parametrize(
    ("task", "write", "texts"),
    [
        # Both texts of what is reported, and nothing that is learnt from.
        ("QQP", write_qqp, ["who are you", "who is this"]),
        # Not the part that a learning rate is chosen on.
        ("SICK-E", lambda folder: sick(folder, 1), ["the cat 2 0", "a dog 2 0"]),
        # A part that is tested in folds.
        ("STS-B", lambda folder: stsb_dev(folder, 1), ["the cat sees 0", "a dog likes 0"]),
        # Questions with their passages.
        ("SQuAD", squad, ["the cat sees ?", "the cat likes ?", PASSAGE]),
    ],
)
def test_texts_that_are_reported_on(tmp_path, task, write, texts):
    write(tmp_path)
    assert reported({task: str(tmp_path)}) == {key(text) for text in texts}
    assert reported({}) == set()


def test_the_files_of_all_tasks(tmp_path):
    squad(tmp_path / "a")
    stsb_dev(tmp_path / "b")
    found = files({"SQuAD": str(tmp_path / "a"), "STS-B": str(tmp_path / "b")})
    names = ("a/train-v2.0.json", "a/dev-v2.0.json", "b/sts-dev.csv")
    assert found == [tmp_path / name for name in names]
