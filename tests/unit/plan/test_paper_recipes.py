"""The numbers of the papers' training, read from the recipes that follow them."""

import math

import pytest

from tests.configs import ROOT
from workflow_scripts.plan import selection
from workflow_scripts.plan.catalogues.embeddings import embeddings
from workflow_scripts.plan.catalogues.rewriters import (
    model_of,
    rewriter,
    rewriter_training_sets,
    rewriters,
)
from workflow_scripts.plan.catalogues.training_sets import training_sets, tuned
from workflow_scripts.plan.resolve import resolve
from workflow_scripts.stages.catalogue import validate


def recipe(*names):
    config = resolve([ROOT / "recipes" / f"{name}.yaml" for name in names], [])
    validate(config)
    return config


def trained(config):
    """The run's embeddings by `<entry>-<training set>`, each of one seed."""
    found = embeddings(config, training_sets(config))
    return {name.removesuffix("-seed1"): each for name, each in found.items()}


PARAGRAM = "paragram_300_sl999.txt"


# --- Wieting, Mallinson & Gimpel 2017 ----------------------------------------------------------


def test_bt2017_trains_avg_20_epochs_and_gran_3_on_24000_pairs():
    config = recipe("bt2017", "bt2017-embeddings")
    for number, corpus in enumerate(("europarl", "crawl", "news"), start=1):  # as in Table 4
        assert training_sets(config)[f"bt2017_random-bt2017-{number}"] == {
            **{"system": "bt2017", "bounds": {}, "folds": None, "max_tokens": None},
            **{"ranks": 1, "sample": 24_000, "seed": config["seed"], "corpora": [corpus]},
        }
    found = trained(config)
    epochs = {each["model"]["encoders"][0]: each["training"]["epochs"] for each in found.values()}
    assert epochs == {"word": 20, "gran": 3}
    for each in found.values():
        assert each["training"] == {
            **{"epochs": each["training"]["epochs"], "batch": 100, "margin": 0.4},
            **{"learning_rate": 0.001, "l2_network": 0, "l2_vectors": 0, "dropout": 0},
            # Negatives come from the mini-batch, and no sentence is scrambled.
            **{"mega_batch": 1, "anneal": None, "scramble": 0},
            "development": ["sts/2016"],  # the stopping epoch
        }
    years = [f"sts/{year}" for year in (2012, 2013, 2014, 2015)]
    assert config["sts"]["data"] == [*years, "sts/twitter", "sts/sick"]
    assert config["systems"]["bt2017"]["search"]["beam_size"] == 50


def test_bt2017_starts_from_paragram_where_the_user_has_it():
    found = trained(recipe("bt2017", "bt2017-embeddings", "paragram"))
    assert {each["model"]["vectors"] for each in found.values()} == {PARAGRAM}
    assert {each["model"]["dimension"] for each in found.values()} == {300}
    assert [each["training"]["epochs"] for each in found.values()] == [20] * 3 + [3] * 3


def test_bt2017_has_as_many_pairs_of_ppdb_and_of_simpwiki():
    config = recipe("bt2017", "bt2017-embeddings", "bt2017-outside", "paragram")
    sets = training_sets(config)
    systems = [each["system"] for each in sets.values()]
    assert systems == ["bt2017", "bt2017", "bt2017", "ppdb", "simpwiki"]
    assert {each["sample"] for each in sets.values()} == {24_000}
    found = trained(config)
    assert len(found) == 10
    assert {each["model"]["vectors"] for each in found.values()} == {PARAGRAM}


TENTHS = [number / 10 for number in range(11)]
# 5.5 and 5.7: the bounds that are tuned on translations, and on SimpWiki.
LENGTHS = [
    *([0, 10], [0, 15], [0, 20], [0, 30], [0, 100], [10, 20], [10, 30]),
    *([10, 100], [15, 25], [15, 30], [15, 100], [20, 30], [20, 100], [30, 100]),
]
CROSSED = [[low, high] for low in TENTHS[:4] for high in TENTHS[6:]]
BLEU = [[round(100 * low), round(100 * high)] for low, high in CROSSED]
RANGES = [[0, 10], [10, 20], [20, 30], [30, 100]]
BT2017 = ("bt2017", "bt2017-embeddings", "bt2017-tuning")


@pytest.mark.parametrize(
    ("language", "sources"),
    [
        (None, ["europarl", "crawl", "news"]),
        ("languages/bt2017-german", ["europarl", "crawl", "news"]),
        ("languages/bt2017-french", ["europarl", "crawl", "giga", "news"]),
    ],
)
def test_bt2017_tunes_the_grids_of_5_5_to_5_7_on_sts_2016_for_each_source(language, sources):
    config = recipe(*BT2017, *([language] if language else []))
    sets, grids = training_sets(config), tuned(config)
    ends = [25, 50, 75, 100, 150, 200, None]
    expected = {
        ("by_length", "paraphrase_words"): LENGTHS,
        ("by_cost", "translation_cost"): [[None, end] for end in TENTHS[2:]],
        ("by_perplexity", "perplexity"): [[None, end] for end in ends],
        ("by_reference", "lstm"): [[start, None] for start in TENTHS[:10]],
        **{(f"by_overlap_{order}", f"overlap_{order}"): CROSSED for order in (1, 2, 3)},
        ("by_bleu", "bleu_nakov"): BLEU,
    }
    assert sum(map(len, expected.values())) == 120  # what the recipe says of its size
    assert len(grids) == 8 * len(sources)
    for source in sources:
        for (entry, column), bounds in expected.items():
            points = [sets[name] for name in grids[f"{entry}-bt2017-{source}"]]
            assert [point["bounds"][column] for point in points] == bounds
            assert {tuple(point["corpora"]) for point in points} == {(source,)}
    partition = [each for name, each in sets.items() if name.startswith("by_range-")]
    assert [each["bounds"]["paraphrase_words"] for each in partition[:: len(sources)]] == RANGES
    baseline = [sets[f"bt2017_random-bt2017-{number + 1}"] for number in range(len(sources))]
    for each in [*baseline, *partition, *(sets[name] for many in grids.values() for name in many)]:
        assert each["sample"] == 24_000
        # One translation of each reference is filtered: no other takes the place of one left out.
        assert each["bounds"]["rank"] == [1, 1] and "ranks" not in each
        # Of the references that no model of a column learnt from.
        assert each["bounds"]["average"] == [None, None]
    assert (config["sts"]["development"], "sts/2016" in config["sts"]["data"]) == (["2016"], True)
    assert config["evaluate"]["punctuation"] == "tokens"
    assert selection.generate_corpora(config) == sources
    assert config["generate"]["limit"] == dict.fromkeys(sources, 150_000)


def test_bt2017_filters_simpwiki_by_lengths_overlaps_and_bleu():
    config = recipe("bt2017", "bt2017-embeddings", "bt2017-simpwiki", "paragram")
    sets, grids = training_sets(config), tuned(config)
    expected = {
        ("wiki_length", "paraphrase_words"): LENGTHS,
        **{(f"wiki_overlap_{order}", f"overlap_{order}"): CROSSED for order in (1, 2, 3)},
        ("wiki_bleu", "bleu_nakov"): BLEU,
    }
    for (entry, column), bounds in expected.items():
        points = [sets[name]["bounds"] for name in grids[f"{entry}-simpwiki"]]
        assert points == [{column: each} for each in bounds]
    partition = [each["bounds"] for name, each in sets.items() if name.startswith("wiki_range-")]
    assert partition == [{"paraphrase_words": each} for each in RANGES]
    assert {(each["system"], each["sample"]) for each in sets.values()} == {("simpwiki", 24_000)}
    assert len(grids) == len(expected)


def test_bt2017_has_models_of_each_source_as_in_5_6():
    config = recipe(*BT2017)
    for name, network in (("lstm", "lstm"), ("average", "average")):
        block = config["columns"][name]["classifier"]
        assert (block["network"], block["epochs"], block["learning_rate"]) == (network, 10, 0.001)
        assert (block["pairs"], block["validation"], block["test"]) == (50_000, 0.1, 0.1)
        assert (block["negatives"], block["whole_list"]) == (["random", "hardest"], True)
        assert block["l2"] == [1e-5, 1e-6, 1e-7, 1e-8, 0]
        assert block["each_corpus"]
    assert config["systems"]["bt2017"]["search"]["nbest"] == 50
    assert config["evaluate"]["columns"] == ["lstm", "average"]
    model = config["columns"]["perplexity"]["language_model"]
    assert model == {"order": 3, "corpora": None, "references": 40_000, "each_corpus": True}
    vectors = recipe(*BT2017, "paragram")["columns"]
    assert {vectors[name]["classifier"]["vectors"] for name in ("lstm", "average")} == {PARAGRAM}
    more = recipe(*BT2017, "bt2017-90000")
    for name in ("lstm", "average"):
        block, usual = (each["columns"][name]["classifier"] for each in (more, config))
        assert block == {**usual, "pairs": 100_000, "validation": 0.05, "test": 0.05}
    assert not training_sets(more)


# --- ParaNMT-50M -------------------------------------------------------------------------------


def test_paranmt_trains_on_five_million_short_pairs_of_the_top_two_tenths():
    found = training_sets(recipe("paranmt", "paranmt-embeddings"))["paranmt_top-paranmt"]
    assert found["folds"] == {"column": "paraphrase_score", "of": 10, "keep": [9, 10]}
    assert found["first"] == "folds"
    assert found["bounds"] == {"reference_words": [None, 30], "paraphrase_words": [None, 30]}
    assert found["sample"] == 5_000_000


def test_paranmt_trains_all_models_of_table_8_for_5_epochs():
    found = trained(recipe("paranmt", "paranmt-embeddings"))
    models = [
        (each["model"]["encoders"], each["model"]["combine"], size(each["model"]))
        for each in found.values()
    ]
    assert models == [
        (["word"], "concatenate", 300),
        (["trigram"], "concatenate", 300),
        (["lstm"], "concatenate", 300),
        (["lstm"], "concatenate", 900),
        (["blstm_average"], "concatenate", 900),
        (["word", "trigram"], "add", 300),
        (["word", "trigram", "lstm"], "add", 300),
        (["word", "trigram"], "concatenate", 600),
        (["word", "trigram", "lstm"], "concatenate", 900),
    ]
    for each in found.values():
        training = each["training"]
        assert (training["epochs"], training["batch"], training["margin"]) == (5, 100, 0.4)
        assert (training["learning_rate"], training["scramble"]) == (0.001, 0.3)
        assert training["mega_batch"] == 40


def size(model):
    """The numbers of a sentence vector: the column Dim. of Table 8."""
    sizes = [
        model["hidden"] if "lstm" in each else model["dimension"] for each in model["encoders"]
    ]
    return sizes[0] if model["combine"] == "add" else sum(sizes)


@pytest.mark.parametrize("name", ["paranmt-embeddings", "paranmt-filters"])
def test_paranmt_starts_from_paragram_and_scores_by_paragram_phrase(name):
    config = recipe("paranmt", name, "paragram")
    for each in trained(config).values():
        words = each["model"]["encoders"] != ["trigram"]
        assert each["model"]["vectors"] == (PARAGRAM if words else None)
        assert each["training"]["anneal"] is None
    ranked = {each["folds"]["column"] for each in training_sets(config).values()}
    assert "paragram_phrase" in ranked
    assert "paraphrase_score" not in ranked
    assert config["columns"]["paragram_phrase"] == {"vectors": {"file": "paragram-phrase-XXL.txt"}}


def test_paranmt_compares_tenths_on_a_million_pairs_and_a_single_epoch():
    config = recipe("paranmt", "paranmt-filters")
    sets = training_sets(config)
    assert len(sets) == 30
    for each in sets.values():
        assert (each["folds"]["of"], each["sample"]) == (10, 1_000_000)
        assert (each["bounds"], each["max_tokens"]) == ({}, None)
    kept = [each["folds"]["keep"] for each in sets.values()]
    assert kept == [[tenth] for tenth in range(1, 11)] * 3
    columns = list(dict.fromkeys(each["folds"]["column"] for each in sets.values()))
    assert columns == ["translation_cost", "overlap_3", "paraphrase_score"]
    found = trained(config)
    assert {each["training"]["epochs"] for each in found.values()} == {1}
    kinds = [each["model"]["encoders"] for each in found.values()]
    assert kinds == [["word"]] * 30 + [["trigram"]] * 30 + [["lstm"]] * 30
    assert config["sts"]["data"] == ["sts/2017"]


def test_paranmt_compares_sources_on_100000_pairs_of_each():
    config = recipe("paranmt", "paranmt-sources", "paragram")
    sets = training_sets(config)
    sources = [["crawl"], ["czeng"], ["europarl"], ["news"]]
    assert [each["corpora"] for each in sets.values()] == sources
    assert {each["sample"] for each in sets.values()} == {100_000}
    assert min(config["generate"]["limit"].values()) > 100_000
    found = trained(config)
    kinds = [each["model"]["encoders"] for each in found.values()]
    assert kinds == [["word"]] * 4 + [["trigram"]] * 4 + [["lstm"]] * 4
    for each in found.values():
        assert (each["training"]["epochs"], each["training"]["anneal"]) == (5, None)
        words = each["model"]["encoders"] != ["trigram"]
        assert each["model"]["vectors"] == (PARAGRAM if words else None)
    assert config["sts"]["data"] == ["sts/2017"]


def test_paranmt_compares_mega_batches_of_1_20_and_40():
    config = recipe("paranmt", "paranmt-embeddings", "paranmt-mega-batches", "paragram")
    found = trained(config)
    sizes = [(each["model"]["encoders"], each["training"]["mega_batch"]) for each in found.values()]
    kinds = (["word"], ["trigram"], ["lstm"])
    assert sizes == [(kind, number) for number in (1, 20, 40) for kind in kinds]
    assert {each["training_set"] for each in found.values()} == {"paranmt_top-paranmt"}
    for each in found.values():
        assert (each["training"]["epochs"], each["training"]["anneal"]) == (5, None)
        words = each["model"]["encoders"] != ["trigram"]
        assert each["model"]["vectors"] == (PARAGRAM if words else None)


# --- ParaBank 2 --------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [["parabank2"], ["czeng"], ["czeng", "czeng17"]])
def test_parabank2_filters_by_4_layer_models_that_clean_corpora_train(names):
    config = recipe(*names)
    roles = ("filter_forward", "filter_backward")
    for role in roles:
        block = selection.role_model(config, role)
        assert (block["encoder_layers"], block["decoder_layers"]) == (4, 4)
    filters = config["dual_filter"]
    assert (filters["enabled"], filters["method"]) == (True, "cross_entropy")
    assert -math.log(filters["min_score"]) == pytest.approx(3.5, abs=0.001)
    assert filters["dev_pairs"] == 500
    trusted = selection.trusted_corpora(config)
    assert trusted
    assert not {*trusted} & {*selection.main_training_corpora(config)}
    assert not {*trusted} & {*selection.generate_corpora(config)}
    assert {*trusted} <= {*selection.training_corpora(config)}


def test_parabank2_stops_its_filter_models_by_500_lines_of_news():
    config = recipe("parabank2")
    assert selection.dev_corpus(config, "filter_forward") == "news"
    assert selection.dev_corpus(config, "forward") == "dev"
    assert "news" in selection.measured_corpora(config)


def test_parabank2_parses_the_top_3_levels_of_some_references():
    syntax, *others = (
        recipe(name)["evaluate"]["syntax"] for name in ("parabank2", "czeng", "parabank")
    )
    assert others == [syntax] * 2
    assert syntax["levels"] == 3
    assert 376 < syntax["share"] * 19_723_003 < 5_000


def test_parabank2_compares_ranks_and_a_pair_of_ranks_with_the_other_corpora():
    config = recipe("parabank2", "parabank2-embeddings")
    sets = training_sets(config)
    assert sets["from_paranmt-paranmt"]["ranks"] == 1
    parabank = sets["from_parabank-parabank"]
    assert parabank["bounds"] == {"intersection_over_union": [None, 0.7]}
    assert parabank["ranks"] == 1
    own = [each for name, each in sets.items() if name.startswith("from_parabank2-")]
    assert [each["ranks"] for each in own] == [1, 2, 3, 4, 5, [1, 5]]
    assert {each["system"] for each in own} == {"parabank2"}
    assert {each["sample"] for each in sets.values()} == {5_000_000}
    assert {(*each["shared"],) for each in sets.values()} == {(*config["run"]["systems"],)}
    assert config["systems"]["parabank2"]["select"]["best"] == 5
    found = trained(config)
    assert {tuple(each["model"]["encoders"]) for each in found.values()} == {("word",)}
    assert len(found) == 8  # the rows of Table 3
    assert config["sts"]["data"] == ["sts/2016"]
    vectors = trained(recipe("parabank2", "parabank2-embeddings", "paragram"))
    assert {each["model"]["vectors"] for each in vectors.values()} == {PARAGRAM}


def test_parabank2_compares_the_released_corpora_on_the_references_that_they_share():
    config = recipe("parabank2-embeddings", "parabank2-released", "paragram")
    assert (config["run"]["systems"], config["run"]["corpora"]) == ([], [])
    own, others = training_sets(config), training_sets(recipe("parabank2", "parabank2-embeddings"))
    shared = ["paranmt_5m", "parabank_1", "parabank_2"]
    for each, other in zip(own.values(), others.values(), strict=True):
        assert each["shared"] == shared
        told = {"system": None, "shared": None, "sample": None}
        assert each | told == other | told


# --- All four ---


@pytest.mark.parametrize(
    ("names", "filters", "splits_digits"),
    [
        (["bt2017"], False, False),
        (["bt2017", "bt2017-embeddings", "bt2017-tuning"], False, False),
        (["paranmt"], False, False),
        (["paranmt", "paranmt-sources"], False, False),
        (["czeng", "paranmt-czeng"], False, False),
        (["parabank"], False, True),
        (["parabank2"], True, False),
        (["czeng", "czeng17"], True, False),
    ],
)
def test_parabank2_alone_filters_pairs_and_parabank_splits_numbers(names, filters, splits_digits):
    config = recipe(*names)
    assert config["clean"].get("filter", True) == filters
    assert filters or not config["dual_filter"]["enabled"]
    assert config["subword"]["split_digits"] == splits_digits


def test_the_samples_and_the_documents_of_the_tables():
    table1 = recipe("paranmt", "paranmt-sources", "paragram", "paranmt-statistics")
    assert selection.generate_corpora(table1) == ["news"]
    assert table1["generate"]["limit"]["news"] == 100_000
    assert selection.main_training_corpora(table1) == ["crawl", "czeng", "europarl", "news"]
    assert table1["evaluate"]["columns"] == ["paragram_phrase"]
    syntax = table1["evaluate"]["syntax"]
    assert (syntax["levels"], syntax["share"]) == (2, 1.0)
    assert recipe("paranmt")["evaluate"]["pairs"] == 100_000
    assert recipe("bt2017", "bt2017-embeddings", "bt2017-tuning")["evaluate"]["pairs"] == 150_000
    for name in ("paranmt", "bt2017"):
        assert recipe(name)["evaluate"]["documents"] == "wikipedia.txt"


# --- Rewriters ---------------------------------------------------------------------------------


def test_parabanks_rewriter_is_trained_for_one_epoch_on_50_million_pairs():
    config = recipe("parabank", "rewriter-parabank")
    (name,) = rewriter_training_sets(config, "parabank_rewriter")
    pairs = training_sets(config)[name]["sample"]
    assert pairs == 50_000_000
    model, block = model_of(config, "parabank_rewriter"), rewriter(config, "parabank_rewriter")
    pieces = model["max_updates"] * model["batch_words"] * model["update_interval"]
    assert 16.5 < pieces / pairs < 17.5  # pieces of a paraphrase, as the recipe says
    assert (model["encoder_layers"], model["decoder_layers"]) == (6, 6)
    assert (block["samples"], block["write"]) == (0, ["paraphrase"])
    # The translation models, and all that they read, are those of the recipe below.
    alone = recipe("parabank")
    for key in ("subword", "train", "clean", "corpora", "systems", "generate"):
        assert config[key] == alone[key]


@pytest.mark.parametrize(
    "recipes",
    [
        ("parabank2", "rewriter-gpu"),
        ("testbed", "rewriter-two-cores"),
        ("portuguese", "portuguese-8000", "rewriter-two-cores"),
        ("testbed", "rewriter-two-cores", "rewriter-testbed"),
        ("testbed", "rewriter-templates"),
        ("portuguese", "portuguese-8000", "rewriter-templates-portuguese"),
        ("portuguese", "portuguese-8000", "rewriter-portuguese"),
        ("portuguese", "rewriter-portuguese", "rewriter-variants"),
    ],
)
def test_a_rewriter_is_laid_over_a_recipe(recipes):
    config = recipe(*recipes)
    (name,) = rewriters(config)
    assert rewriter_training_sets(config, name)
    assert (rewriter(config, name)["templates"] is not None) == ("templates" in recipes[-1])


def test_the_rewriter_under_the_papers_variants_is_the_one_without():
    below = ("portuguese", "portuguese-8000", "rewriter-portuguese")
    alone, beside = recipe(*below), recipe(*below, "rewriter-variants")
    (name,) = rewriter_training_sets(alone, "english")
    assert rewriter_training_sets(beside, "english") == [name]
    assert training_sets(beside)[name] == training_sets(alone)[name]
    assert beside["systems"]["parabank2"] == alone["systems"]["parabank2"]
    told = {"systems": None}
    assert rewriter(beside, "english") | told == rewriter(alone, "english") | told
    (both,) = beside["evaluate"]["rewriting"]
    variants = [[*beside["systems"][name]["constraints"]["variants"]] for name in both]
    assert variants == [["s17", "s21", "s28", "s31", "s34"]] * 2
