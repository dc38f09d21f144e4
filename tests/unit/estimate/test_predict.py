import pytest

from tests.configs import replaced, run_on_testbed
from tests.stanza_package import FOLDER as PARSER
from workflow_scripts.commands.estimate.networks import Speed
from workflow_scripts.commands.estimate.predict import DISTINCT, OF_EACH_CONTENT, Predictor, Speeds
from workflow_scripts.commands.estimate.text_speed import TextSpeed
from workflow_scripts.plan.catalogues.rewriters import rewriter_role
from workflow_scripts.stages.catalogue import run_layout

LINES = {"testbed": 60000, "testbed_dev": 300, "testbed_test": 500, "testbed_held_out": 500}
TEXT = TextSpeed(
    imported={"testbed": 1e-4},
    cleaned=1e-5,
    trained=1e-4,
    segmented=1e-3,
    selected=1e-5,
    pair_bytes=50.0,
    segment_bytes=30.0,
    characters=40.0,
    pieces={"source": 9.0, "reference": 11.0},
)
PRECISIONS = {"fp32": 4e-6, "bf16": 3e-6, "int8": 2e-6}
FORWARD = Speed(
    2e-4, sampled=5e-5, searched=1e-4, scored=1e-4, parameters=1000, precisions=PRECISIONS
)
BACKWARD = FORWARD._replace(scored=3e-4)
STARTS = {"text": 1.0, "network": 4.0}
# Of a network for each of two shards, and of what puts their parts together.
TWO_SHARDS = 2 * STARTS["network"] + STARTS["text"]


@pytest.fixture
def config():
    return run_on_testbed()


def predictor(config, on_gpu=False):
    networks = {"forward": FORWARD, "backward": BACKWARD}
    networks |= {f"filter_{role}": speed for role, speed in networks.items()}
    return Predictor(run_layout(config), LINES, Speeds(TEXT, networks, STARTS), on_gpu)


def costs(config, on_gpu=False):
    return {cost.unit: cost for cost in predictor(config, on_gpu).costs()}


def test_every_unit_has_a_cost_above_zero(config):
    found = costs(config)
    assert list(found) == run_layout(config).units()
    for cost in found.values():
        assert min(cost.jobs, cost.cpu, cost.size, cost.files) > 0
        assert cost.gpu == 0


def test_references_follow_the_limit(config):
    assert predictor(config).references() == 500 + 500  # of the held-out corpus all
    assert predictor(replaced(config, "generate", "limit", 300)).references() == 300
    assert predictor(replaced(config, "generate", "limit", None)).references() == 60500
    no_limit = replaced(config, "generate", "limit", dict.fromkeys(LINES))
    assert predictor(no_limit).references() == 60500


def test_generation_is_tokens_times_speed(config):
    cost = costs(config)["generate", "parabank2"]
    tokens = 1000 * 30 * 5 * 12  # references, samples, sets, pieces with </s>
    assert cost.cpu == pytest.approx(tokens * FORWARD.sampled + TWO_SHARDS)
    assert cost.jobs == 3


def test_beam_search_counts_its_beam(config):
    config["run"]["systems"] = ["paranmt"]
    search = config["systems"]["paranmt"]["search"]
    cost = costs(config)["generate", "paranmt"]
    expected = 1000 * search["beam_size"] * 12 * FORWARD.searched + TWO_SHARDS
    assert cost.cpu == pytest.approx(expected)


def test_each_variant_is_a_search(config):
    variants = config["systems"]["parabank"]["constraints"]["variants"]
    beam = config["systems"]["parabank"]["search"]["beam_size"]
    config["run"]["systems"] = ["parabank"]
    assert predictor(config).candidates("parabank") == len(variants)  # of each the best
    cost = costs(config)["generate", "parabank"]
    expected = 1000 * len(variants) * beam * 12 * FORWARD.searched + TWO_SHARDS
    assert cost.cpu == pytest.approx(expected)
    variants["s34"] = False
    assert predictor(config).candidates("parabank") == len(variants) - 1


def test_a_pool_is_all_its_searches_over_all_its_sources(config):
    system = config["systems"]["parabank2"]
    samples, beam = system["search"], {"method": "beam", "beam_size": 8, "nbest": 4}
    system |= {"search": None, "searches": {"samples": samples, "beam": beam}}
    system["constraints"]["searches"] = ["samples"]
    system["sources"] = {"written": 2}
    assert predictor(config).candidates("parabank2") == 3 * (5 * 30 + 4)
    found = costs(config)
    rate = 5 * 30 * FORWARD.sampled + 8 * FORWARD.searched
    assert found["generate", "parabank2"].cpu == pytest.approx(3 * 1000 * 12 * rate + TWO_SHARDS)
    (written,) = (found[unit] for unit in found if str(unit[1]).startswith("sources-"))
    assert written.cpu == pytest.approx(1000 * 5 * 10 * BACKWARD.searched + TWO_SHARDS)


def test_scoring_reads_distinct_candidates_with_the_backward_model(config):
    for most, share in ((None, DISTINCT), (2, OF_EACH_CONTENT[2]), (4, DISTINCT)):
        config["systems"]["parabank2"]["score"]["of_each_content"] = most
        found = costs(config)
        tokens = 1000 * 150 * share * 10
        expected = tokens * BACKWARD.scored + TWO_SHARDS
        assert found["score", "parabank2"].cpu == pytest.approx(expected)
        selected = found["select", "parabank2"].cpu - 1000 * 150 * share * TEXT.selected
        assert selected == pytest.approx(4 * STARTS["text"])


def test_scoring_with_a_shortlist_takes_less_where_the_model_has_one(config):
    cost = costs(config)["score", "parabank2"]
    config["systems"]["parabank2"]["score"]["shortlist"] = True
    assert costs(config)["score", "parabank2"].cpu == cost.cpu  # its model has none
    config["train"]["models"]["backward"] = "student_en_pt"
    less = costs(config)["score", "parabank2"].cpu - TWO_SHARDS
    assert less == pytest.approx(0.6 * (cost.cpu - TWO_SHARDS))


def test_references_that_are_scored_are_read_by_both_models(config):
    before = costs(config)
    config["evaluate"]["reference_scores"] = True
    after = costs(config)
    expected = 1000 * (12 * FORWARD.scored + 10 * BACKWARD.scored) + TWO_SHARDS
    assert after["score", "references"].cpu == pytest.approx(expected)
    # One more job of evaluate compares the candidates with their references.
    more = after["evaluate", "parabank2"].cpu - before["evaluate", "parabank2"].cpu
    assert more == pytest.approx(1000 * 150 * DISTINCT * 0.00002 + STARTS["text"])


def test_a_judge_asks_its_models_for_each_distinct_candidate(config, tmp_path):
    (tmp_path / "labels.tsv").write_text("", encoding="utf-8")
    labels = str(tmp_path / "labels.tsv")
    select = config["systems"]["parabank2"]["select"]
    select |= {"judge": "mine", "keep": {"max_sum": 3.5, "probability": 0.5}}

    def judged(*features):
        config["judges"]["mine"] = {"labels": labels, "features": list(features), "grammar": "run"}
        found = costs(config)
        assert all(min(cost.cpu, cost.size) > 0 for cost in found.values())
        return found["judge", "parabank2"].cpu

    candidates = 1000 * 150 * DISTINCT
    bare = judged("overlap_1")
    assert bare > candidates * 1e-5
    assert judged("grammar") - bare > candidates * 1e-5
    forced = candidates * 12 * FORWARD.scored  # pieces with </s>
    network = 2 * (STARTS["network"] - STARTS["text"])
    assert judged("forward_worst") - bare == pytest.approx(forced + network)


def test_training_is_words_times_speed(config):
    role = ("train", "forward")
    once = costs(config)[role]
    twice = costs(replaced(config, "models", "testbed", "max_updates", 9000))[role]
    words = 4500 * config["models"]["testbed"]["batch_words"]
    more = twice.cpu - once.cpu
    # The second 4500 updates, and the validations between them.
    assert words * FORWARD.update_word < more < 1.1 * words * FORWARD.update_word
    large = costs(replaced(config, "models", "testbed", "update_interval", 4))[role]
    assert large.cpu - once.cpu == pytest.approx(3 * words * FORWARD.update_word)
    assert once.size == 8 * FORWARD.parameters


@pytest.mark.parametrize(("stored", "size"), [(0, 4 * FORWARD.parameters), (777, 777)])
def test_finished_model_is_not_trained(config, stored, size):
    before = predictor(config)
    config["models"]["testbed"] = {"folder": "f", "source_model": "s", "reference_model": "r"}
    before._config = config  # a layout would want the folder to be there
    before._speeds.networks["forward"] = FORWARD._replace(stored=stored)
    _, seconds, found = before._of_train("forward")
    assert found == size
    assert seconds == pytest.approx(500 * 5 * 12 * FORWARD.searched)


def test_where_nothing_is_trained_no_text_is_cut_and_without_a_test_nothing_is_measured(config):
    package = {"package": "x", "version": "1", "path": "y"}
    config["models"] |= {"one": package, "other": package}
    config["train"] |= {"dev": None, "test": None}
    config["train"]["models"] |= {"forward": "one", "backward": "other"}
    found = costs(config)
    assert not [unit for unit in found if unit[0] == "subword"]
    for role in ("forward", "backward"):
        assert found["train", role].cpu == STARTS["text"] + STARTS["text"]


def test_sources_are_searched_by_one_model_and_scored_by_the_other(config, tmp_path):
    (tmp_path / "mine.en").write_text("A sentence.\n", encoding="utf-8")
    package = {"package": "x", "version": "1", "path": "y"}
    config["models"] |= {"one": package, "other": package}
    config["train"] |= {"dev": None, "test": None}
    config["train"]["models"] |= {"forward": "one", "backward": "other"}
    config["corpora"]["mine"] = {"text": str(tmp_path / "mine.en")}
    config["run"]["corpora"] = ["mine"]
    config["generate"] |= {"corpora": None, "limit": 100}
    for column in config["columns"].values():
        if "language_model" in column:
            column["language_model"]["corpora"] = None

    def cost(search):
        config["corpora"]["mine"]["search"] = search
        layout = run_layout(config)
        networks = {"forward": FORWARD, "backward": BACKWARD}
        speeds = Speeds(TEXT, networks, STARTS)
        found = {
            each.unit: each for each in Predictor(layout, {"mine": 2000}, speeds, False).costs()
        }
        assert list(found) == layout.units()
        assert found["train", "writer_backward"].size == 4 * BACKWARD.parameters
        shards = layout.shards("generate", "mine-sources")
        starts = shards * STARTS["network"] + STARTS["text"]
        return found["generate", "mine-sources"].cpu - starts

    beam = cost({"method": "beam", "beam_size": 5})
    assert beam == pytest.approx(2000 * (5 * 10 * BACKWARD.searched + 12 * FORWARD.scored))
    samples = cost({"method": "sample", "k": 10, "samples": 3})
    assert samples == pytest.approx(2000 * 3 * (10 * BACKWARD.sampled + 12 * FORWARD.scored))


def test_networks_go_to_the_gpu_and_text_stays(config):
    on_cpu, on_gpu = costs(config), costs(config, on_gpu=True)
    for unit, cost in on_gpu.items():
        assert cost.cpu + cost.gpu == pytest.approx(on_cpu[unit].cpu)
        networks = unit[0] in ("train", "score") or unit == ("generate", "parabank2")
        assert (cost.gpu > 0) == networks


def test_filter_scores_what_is_not_trusted(config):
    config["dual_filter"]["enabled"] = True
    config["run"]["corpora"] = ["testbed", "testbed_held_out"]
    cost = costs(config)["dual_filter", "scores"]
    per_pair = 12 * FORWARD.scored + 10 * BACKWARD.scored
    assert cost.cpu == pytest.approx(500 * per_pair + TWO_SHARDS)


def test_shards_cost_starts_and_files(config):
    few = costs(config)["clean", None]
    many = costs(replaced(replaced(config, "shards", "early", 64), "shards", "late", 2))[
        "clean", None
    ]
    assert many.jobs - few.jobs == 62
    assert many.cpu - few.cpu == pytest.approx(62 * STARTS["text"])
    assert many.files - few.files == 62 * 4


def rewriting(config, name="plain", own=FORWARD, **block):
    """The costs, by unit, of a run with a rewriter whose model has this speed."""
    config["run"]["rewriters"] = [name]
    trained = {} if "continued" in block else {"model": "testbed"}
    config["rewriters"] = {name: {"training_sets": ["all"], **trained, **block}}
    layout = run_layout(config)
    networks = {"forward": FORWARD, "backward": BACKWARD, rewriter_role(name): own}
    found = Predictor(layout, LINES, Speeds(TEXT, networks, STARTS), False).costs()
    assert [cost.unit for cost in found] == layout.units()
    return {each.unit: each for each in found}


HELD_OUT = {"dev": 20, "test": 50}


def test_a_finished_rewriter_costs_its_files_and_its_measures(config):
    cost = rewriting(config, model="student_pt_en", held_out=HELD_OUT)
    assert cost["train", "rewriter_plain"].size >= 4 * FORWARD.parameters
    assert cost["rewrite", "plain"].size < 1e6
    assert cost["rewrite", "plain-measures"].cpu > 50 * 12 * FORWARD.searched
    assert ("rewrite", "plain-subword") not in cost


def test_a_rewriter_is_trained_and_measured_at_the_speed_of_its_own_model(config):
    own = FORWARD._replace(update_word=1e-3, searched=2e-3)
    write = ["paraphrase", "reference"]
    cost = rewriting(config, own=own, held_out=HELD_OUT, beam=4, write=write)
    pairs = 1000 * config["systems"]["parabank2"]["select"]["best"] * 2
    made, plain = cost["rewrite", "plain-pairs"], cost["rewrite", "plain"]
    assert made.size == pytest.approx(pairs * TEXT.pair_bytes)
    assert made.jobs == 2
    size = cost["rewrite", "plain-subword"].size
    assert size == pytest.approx(pairs * TEXT.segment_bytes)
    searched = 50 * 12 * own.searched
    starts = STARTS["network"] + STARTS["text"]
    assert cost["rewrite", "plain-measures"].cpu == pytest.approx(5 * searched + starts)
    block = config["models"]["testbed"]
    words = block["max_updates"] * block["batch_words"]
    words += 20 * pairs / 1000 * 12 * block["max_updates"] / block["checkpoint_updates"] / 3
    expected = words * own.update_word + 5 * searched * pairs / 1000 + pairs * TEXT.cleaned
    assert plain.cpu == pytest.approx(expected + starts)
    assert plain.files > made.files


def test_a_rewriter_that_goes_on_learns_no_vocabulary(config):
    unit = ("rewrite", "plain-subword")
    anew = rewriting(config)[unit].cpu
    goes_on = rewriting(config, continued={"from": "forward", "max_updates": 60})
    pairs = 1000 * config["systems"]["parabank2"]["select"]["best"]
    assert anew - goes_on[unit].cpu == pytest.approx(2 * pairs * TEXT.trained)


def test_copies_with_sampled_segmentations_are_those_of_the_rewriter(config):
    config["subword"]["model_type"] = "unigram"
    none, three = (
        rewriting(config, samples=samples)["rewrite", "plain-subword"].size for samples in (0, 3)
    )
    assert three == pytest.approx(3 * none)


def test_a_rewriter_with_templates_is_asked_for_each_of_them(config):
    config["evaluate"]["syntax"] = {"folder": str(PARSER), "package": "default", "levels": 3}
    config["evaluate"]["syntax"]["share"] = 1.0
    cost = rewriting(config, beam=4, templates={"most": 7, "sentences": 50})
    starts = STARTS["network"] + STARTS["text"]
    searched = 50 * (7 + 3) * 12 * FORWARD.searched * 4
    assert cost["rewrite", "plain-control"].cpu == pytest.approx(searched + starts)
    for part in ("plain-parses", "plain-templates"):
        assert cost["rewrite", part].size == cost["rewrite", "plain-pairs"].size
        assert cost["rewrite", part].files < cost["rewrite", "plain"].files


def test_noise_makes_more_rows_and_its_repair_is_searched_by_kind(config):
    without = rewriting(config, beam=4)["rewrite", "plain-pairs"].size
    noisy = rewriting(config, beam=4, noise={"copies": 3, "weights": {"omit": 1}})
    assert noisy["rewrite", "plain-pairs"].size == pytest.approx(3 * without)
    # Each of the 500 held-out sentences undamaged, and with damage of one kind.
    starts = STARTS["network"] + STARTS["text"]
    searched = 500 * 2 * 12 * FORWARD.searched * 4
    assert noisy["rewrite", "plain-repair"].cpu == pytest.approx(searched + starts)


def test_a_system_that_a_rewriter_writes_costs_what_its_references_cost(config):
    config["systems"]["mono"] = {**config["systems"]["parabank2"], "rewriter": {"name": "plain"}}
    config["run"]["systems"] = ["parabank2", "mono"]
    own = FORWARD._replace(sampled=10 * FORWARD.sampled)
    bound = rewriting(config, own=own, held_out=HELD_OUT)
    bilingual = bound["generate", "parabank2"].cpu - TWO_SHARDS
    assert bound["generate", "mono"].cpu - TWO_SHARDS == pytest.approx(bilingual * 50 / 1000 * 10)
    for stage in ("generate", "score", "select"):
        sizes = [bound[stage, system].size for system in ("mono", "parabank2")]
        assert sizes[0] == pytest.approx(sizes[1] * 50 / 1000)
    config["systems"]["mono"]["rewriter"]["references"] = "all"
    every = rewriting(config, own=own, held_out=HELD_OUT)["generate", "mono"]
    assert every.cpu - TWO_SHARDS == pytest.approx(bilingual * 10)
