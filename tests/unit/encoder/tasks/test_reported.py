from tests.unit.encoder.tasks.samples import PASSAGE, qqp, sick, squad, stsb_dev
from workflow_scripts.stages.embed.prepared import key
from workflow_scripts.stages.encoder.tasks.reported import files, reported


def keys(*texts):
    return {key(text) for text in texts}


def test_both_texts_of_what_is_reported_and_nothing_that_is_learnt_from(tmp_path):
    qqp(tmp_path, [("what is it", "which is it", 1)])
    qqp(tmp_path, [("who are you", "Who is this?", 0)], "dev")
    assert reported({"QQP": str(tmp_path)}) == keys("who are you", "who is this")


def test_the_part_that_a_learning_rate_is_chosen_on_is_not_reported(tmp_path):
    sick(tmp_path, 1)
    assert reported({"SICK-E": str(tmp_path)}) == keys("the cat 2 0", "a dog 2 0")


def test_a_part_that_is_tested_in_folds_is_reported(tmp_path):
    stsb_dev(tmp_path, 1)
    assert reported({"STS-B": str(tmp_path)}) == keys("the cat sees 0", "a dog likes 0")


def test_questions_with_their_passages(tmp_path):
    squad(tmp_path)
    assert reported({"SQuAD": str(tmp_path)}) == keys("the cat sees ?", "the cat likes ?", PASSAGE)


def test_the_files_of_all_tasks(tmp_path):
    squad(tmp_path / "a")
    stsb_dev(tmp_path / "b")
    found = files({"SQuAD": str(tmp_path / "a"), "STS-B": str(tmp_path / "b")})
    names = ("a/train-v2.0.json", "a/dev-v2.0.json", "b/sts-dev.csv")
    assert found == [tmp_path / name for name in names]


def test_no_task():
    assert reported({}) == set()
