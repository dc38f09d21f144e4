from workflow_scripts.stages.evaluate.results import (
    all_measures,
    paraphrase_count,
    read_measures,
    shown_groups,
)


def test_every_system_in_the_order_of_the_run(made_up_run):
    measures = all_measures(made_up_run.finished())
    assert list(measures) == list(made_up_run.systems)
    assert measures["beam"] == read_measures(made_up_run.measures("beam"))


def test_paraphrase_count():
    assert paraphrase_count({"references_by_paraphrases": [7, 3, 0, 2]}) == 9


def test_a_group_of_all_references_is_shown_once():
    everything, none = {"references": 3}, {"references": 0}
    groups = {"all": everything, "unknown": {"references": 3}, "seen": none}
    assert shown_groups(groups) == {"all (unknown)": everything}
    groups["held_out"] = groups.pop("unknown") | {"references": 2}
    assert shown_groups(groups) == {"all": everything, "held-out": {"references": 2}}
    assert shown_groups({"all": none, "seen": none}) == {"all": none}
