"""Systems whose candidates a rewriter writes: what they read, and what is refused."""

import pytest
import yaml

from tests.configs import refusal, refusals, replaced, run_on_testbed
from workflow_scripts.stages.catalogue import run_layout, validate
from workflow_scripts.stages.evaluate.stage import Evaluate

FIVE = {"s17": {"kind": "negative", "choose": {"first": 2}}, "s28": None}


def with_rewriter(**changes):
    """The run on the testbed with a system that a rewriter writes, and one beside it."""
    config = run_on_testbed()
    base = config["systems"]["parabank2"]
    search = {"method": "beam", "beam_size": 4, "nbest": 1}
    select = {"method": "nbest", "best": 2, "keep": {"max_sum": 3.5}}
    beam = {"search": search, "score": {"prune_above": 3.5}, "select": select}
    beam["constraints"] = {"variants": FIVE}
    config["systems"] = {
        "parabank2": base,
        "beam": beam,
        "mono": {**beam, "rewriter": {"name": "plain"}},
    }
    config["run"]["systems"] = ["parabank2", "beam", "mono"]
    config["run"]["rewriters"] = ["plain"]
    config["rewriters"] = {"plain": {"training_sets": ["all"], "model": "testbed"}}
    for path, value in changes.items():
        config = replaced(config, *path.split("__"), value)
    return config


def test_it_reads_the_rewriter_in_place_of_the_forward_model():
    layout = run_layout(with_rewriter())
    read = layout.upstream(("generate", "mono"))
    assert ("rewrite", "plain") in read and ("rewrite", "plain-pairs") in read
    assert ("train", "forward") not in read
    assert layout.upstream(("generate", "beam"))[-1] == ("train", "forward")
    told = layout.settings(("generate", "mono"))["rewriter"]
    assert told == {"name": "plain", "references": "held_out"}
    every = run_layout(
        with_rewriter(systems__mono__rewriter={"name": "plain", "references": "all"})
    )
    assert ("rewrite", "plain-pairs") not in every.upstream(("generate", "mono"))
    # All else is as of any system; the backward model scores the source.
    assert layout.upstream(("score", "mono")) == [("generate", "mono"), ("train", "backward")]


def test_other_systems_keep_their_folders():
    config = with_rewriter()
    config["run"]["systems"] = ["parabank2", "beam"]
    config["run"].pop("rewriters")
    without, beside = run_layout(config), run_layout(with_rewriter())
    for stage in ("generate", "score", "select", "evaluate"):
        for system in ("parabank2", "beam"):
            assert without.folder(stage, system) == beside.folder(stage, system)


def test_it_does_not_learn_from_itself_unless_it_is_told_to():
    layout = run_layout(with_rewriter())
    assert ("filter", "all-mono") not in layout.upstream(("rewrite", "plain-pairs"))


def test_a_circle_of_two_rewriters_is_named_whole():
    config = with_rewriter(rewriters__plain__systems=["other"])
    config["systems"]["other"] = {**config["systems"]["mono"], "rewriter": {"name": "second"}}
    config["rewriters"]["second"] = {**config["rewriters"]["plain"], "systems": ["mono"]}
    config["run"]["systems"].append("other")
    config["run"]["rewriters"].append("second")
    assert (
        "systems.mono.rewriter: 'plain' learns from what other writes (systems.other.rewriter), "
        "and 'second' learns from what mono writes, a circle; take mono out of "
        "rewriters.second.systems"
    ) in refusal(config)


GAIN = "{columns.gain: {feature: {name: forward_gain}}, evaluate.columns: [gain]}"
QUANTILE = "{method: nbest, best: 2, keep: {max_sum: null, reference_quantile: 0.5}}"
REFUSED = refusals(f"""
rewriters.plain.systems: [parabank2, mono] => configuration: systems.mono.rewriter: 'plain' learns
 from what mono writes, a circle; take mono out of rewriters.plain.systems
run.rewriters: [] => systems.mono.rewriter.name: 'plain' is not among run.rewriters; add it there
rewriters.plain.templates: {{}} => systems.mono.rewriter.name: 'plain' reads templates in front of
 sentences
systems.mono.rewriter: {{name: plain, references: some}} => systems.mono.rewriter.references
systems.mono.select: {QUANTILE} => systems.mono.select.keep.reference_quantile: the references are
 scored by the forward
{GAIN} => columns.gain: forward_gain takes NLLs of the forward model
{GAIN} => of mono have those of a rewriter
systems.mono: {{rewriter: {{name: plain}}, merge: {{a: {{run: runs/a, system: s}}}},
 select: {QUANTILE}}} => systems.mono: merge takes the place of rewriter; take them out
evaluate.rewriting: [[mono, beam]] => .0: first comes a system that the forward model
evaluate.rewriting: [[beam, nobody]] => .0: 'nobody' is not among run.systems
evaluate.rewriting: [[parabank2, mono]] => parabank2 and mono have no variant of the same name
evaluate.rewriting: [[beam]] => .0
{{evaluate.rewriting: [[beam, mono]], languages.reference: {{code: de, charset: latin-1}}}} =>
 evaluate.rewriting: its semantic score is of an encoder for English
""")


@pytest.mark.parametrize(("change", "message"), REFUSED)
def test_what_is_refused(change, message):
    config = with_rewriter()
    for path, value in yaml.safe_load(change).items():
        config = replaced(config, *path.split("."), value)
    assert message in refusal(config)


def test_a_rewriter_that_learns_from_both_may_hold_out_pairs_from_outside_alone():
    config = with_rewriter(outside={"given": {"tsv": "pairs.tsv"}}, run__outside=["given"])
    message = "'plain' learns from pairs from outside (given), and may hold out theirs alone"
    assert message in refusal(config)
    config["rewriters"]["plain"]["systems"] = ["parabank2", "beam"]
    validate(config)


def test_a_rewriter_of_pairs_from_outside_holds_out_no_reference():
    config = with_rewriter(outside={"given": {"tsv": "pairs.tsv"}}, run__outside=["given"])
    config["rewriters"]["plain"]["systems"] = ["given"]
    config["training_sets"]["all"] = {"systems": ["given"]}
    assert "systems.mono.rewriter.references: 'plain' learns from pairs from outside" in refusal(
        config
    )
    config["systems"]["mono"]["rewriter"]["references"] = "all"
    validate(config)


def test_the_user_is_told_where_a_rewriter_reads_what_it_knows():
    assert not any("rewriter" in note for note in run_layout(with_rewriter()).notes())
    config = with_rewriter(systems__mono__rewriter={"name": "plain", "references": "all"})
    (note,) = [note for note in run_layout(config).notes() if "rewriter" in note]
    assert note.startswith("systems.mono.rewriter.references: all: the rewriter 'plain' has learnt")


def test_a_judge_asks_the_forward_model_about_what_a_rewriter_wrote():
    select = {"method": "judged", "judge": "default", "clusters": 2, "best": 2}
    select["keep"] = {"max_sum": 3.5, "probability": 0.1}
    config = with_rewriter(systems__mono__select=select, systems__beam__select=select)
    layout = run_layout(config)
    assert ("train", "forward") in layout.upstream(("judge", "mono"))
    assert ("train", "forward") not in layout.upstream(("judge", "beam"))
    assert layout.settings(("judge", "mono"))["rewritten"] is True
    assert "rewritten" not in layout.settings(("judge", "beam"))


def test_bounds_in_terms_of_the_references_are_not_shown_of_it():
    layout = run_layout(with_rewriter(evaluate__reference_scores=True))
    assert "bounding" in layout.other_records("evaluate", "beam")
    assert "bounding" not in layout.other_records("evaluate", "mono")


def test_the_pairs_of_systems_that_are_compared():
    layout = run_layout(with_rewriter(evaluate__rewriting=[["beam", "mono"]]))
    assert ("score", "beam") in layout.upstream(("evaluate", "mono"))
    assert "pairing" in layout.other_records("evaluate", "mono")
    assert layout.settings(("evaluate", "mono"))["bilingual"] == {"beam": ["s17", "s28"]}
    assert "pairing" not in layout.other_records("evaluate", "beam")


def test_variants_are_compared_in_systems_that_have_both():
    pairs = [["s17", "s28"]]
    layout = run_layout(with_rewriter(evaluate__variant_pairs=pairs))
    assert layout.settings(("evaluate", "mono"))["variant_pairs"] == pairs
    assert "variant_pairs" not in layout.settings(("evaluate", "parabank2"))
    assert "variant_pairs" in layout.stage(Evaluate).tables()


def test_the_datasheet_tells_all_behind_it():
    from workflow_scripts.stages.release.stage import Release

    layout = run_layout(with_rewriter(evaluate__rewriting=[["beam", "mono"]]))
    release = layout.stage(Release)
    told = release.system_settings("mono")
    assert told["rewriter"]["learnt_from"] == ["all-parabank2", "all-beam"]
    assert told["configuration"]["run"]["rewriters"] == ["plain"]
    assert told["configuration"]["run"]["systems"] == ["parabank2", "beam", "mono"]
    assert told["configuration"]["training_sets"]
    assert "rewriting" not in told["configuration"]["evaluate"]
    units = release.described_units("mono")
    assert ("rewrite", "plain") in units
    other = release.system_settings("beam")
    assert "rewriter" not in other and "rewriters" not in other["configuration"]["run"]
    assert ("rewrite", "plain") not in release.described_units("beam")


def test_a_rewriter_takes_all_variants_of_the_catalogue():
    config = with_rewriter()
    parabank = config["systems"].setdefault("parabank", run_on_testbed()["systems"]["parabank"])
    config["systems"]["mono"] = {**parabank, "rewriter": {"name": "plain"}}
    layout = run_layout(config)
    told = layout.settings(("generate", "mono"))["constraints"]["variants"]
    assert list(told) == [f"s{number:02d}" for number in range(1, 35)]
    assert ("generate", "idf") in layout.upstream(("generate", "mono"))
