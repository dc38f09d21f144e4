import subprocess
import sys
from pathlib import Path

import pytest

from tests.configs import at, merged, refusal, run_on_testbed
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.paths import file_name
from workflow_scripts.plan.layout import checks_of
from workflow_scripts.plan.resolve import resolve
from workflow_scripts.plan.stage import Stage
from workflow_scripts.stages.catalogue import STAGES, validate

ROOT = Path(__file__).resolve().parents[3]
WEB = {"url": "http://a/b", "tsv": "b", "columns": {"source": 0, "reference": 1}}


@pytest.fixture
def config():
    return run_on_testbed()


def test_default_config_is_valid():
    validate(resolve([], []))


@pytest.mark.parametrize(
    "override",
    [
        {"generate": {"limit": 500}},
        {"generate": {"limit": {"testbed": 0, "testbed_held_out": 100}}},
        {"generate": {"limit": None, "corpora": ["testbed_held_out"]}},
        # No training set is chosen by it.
        {"evaluate": {"columns": []}, "generate": {"limit": None}},
    ],
)
def test_a_language_model_has_references_that_are_not_paraphrased(config, override):
    validate(merged(merged(config, {"evaluate": {"columns": ["perplexity"]}}), override))


@pytest.mark.parametrize(
    ("setting", "shown"),
    [
        ("generate={limit: 5}", "generate.limit: '5' does not fit (A seeded sample"),
        ("generate={limit: {testbed: 5}}", "generate.limit.testbed: '5' is not of type 'integer'"),
        ("clean={drop_copies: false}", "clean.drop_copies: 'false' is not of type 'boolean'"),
        ("clean={max_ratio: 2.5}", "clean.max_ratio: '2.5' is not of type 'number'"),
        ("train={corpora: null}", "train.corpora: 'null' is not of type 'array', 'null'"),
    ],
)
def test_a_value_inside_a_setting_is_text_and_the_remedy_is_told(setting, shown):
    with pytest.raises(InputError) as error:
        validate(resolve([], [setting]))
    text = str(error.value)
    assert shown in text
    assert "take the quotes off. If it came by --config" in text
    assert "write the key into a recipe" in text


@pytest.mark.parametrize("value", ["a few", "", " "])
def test_a_text_that_spells_nothing_else_has_no_such_remedy(config, value):
    assert "quotes" not in refusal(config, {"clean": {"max_ratio": value}})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        ("systems.parabank2.select", {"keeep": 1}, ": unknown key 'keeep'; did you mean 'keep'?"),
        ("corpora.testbed.testbed", {"frist": 1}, ": unknown key 'frist'; did you mean 'first'?"),
        ("seed", "one", ": 'one' is not of type 'integer'"),
        ("generate.limit", 0, ": 0 is less than the minimum of 1"),
        ("generate.limit", {"tesbed": 1}, ": 'tesbed' is not in corpora; did you mean"),
        ("corpora.x", {"source": "a"}, ": key 'reference' is missing"),
        (
            "corpora.x",
            {"source": "a", "reference": "b", "tsv": "c"},
            ": One corpus: exactly one of",
        ),
        ("corpora.x", {"tsv": "c"}, ": 'tsv' needs key 'columns', which is missing"),
        (
            "corpora.x",
            {"source": "a", "reference": "b", "columns": WEB["columns"]},
            ": 'columns' needs key 'tsv', which is missing",
        ),
        (
            "corpora.x",
            {"source": "a", "reference": "b", "header": True},
            ": 'header' needs key 'tsv', which is missing",
        ),
        ("run.systems", ["parabnk2"], ": 'parabnk2' is not in systems; did you mean"),
        ("corpora.x", WEB | {"sha256": "abc"}, ".sha256"),
        ("corpora.x", WEB | {"tsv": "c/d"}, ".tsv: 'c/d' does not begin with"),
        ("corpora.x", WEB | {"url": None, "sha256": None}, ".url"),
        ("corpora.x", WEB | {"sha256": ["0" * 64, "1" * 64]}, ": 1 url, but 2 sha256"),
        ("corpora.x", WEB | {"url": ["http://a/b", "http://c/b"]}, ".url: two files of the name b"),
        ("corpora.x.mtdata", "europarl", ": 'europarl' does not match"),
        ("run.corpora", ["testbed", "nowhere"], ": 'nowhere' is not in corpora"),
        ("train.corpora", ["testbed_dev"], ": 'testbed_dev' is not among run.corpora"),
        ("train.models.forward", "huge", ": 'huge' is not in models"),
        ("train", {"dev": "testbed"}, ": 'testbed' can't be trained on and measured on"),
        ("shards", {"early": 5}, ": late (2) does not divide early (5)"),
        (
            "compute",
            {"device": "cuda", "precision": "int8"},
            ".precision: int8 is for CPUs; with device cuda take bf16",
        ),
        ("subword", {"model_type": "bpe", "samples": 4}, ": bpe has no sampled segmentations"),
        ("models.testbed", {"heads": 3}, ": heads (3) does not divide size"),
        ("models.testbed", {"folder": "m"}, ": unknown encoder_layers, decoder_layers, size,"),
        (
            "models.testbed",
            {"folder": "m", "source_model": "s", "reference_model": "r"},
            ": unknown encoder_layers, decoder_layers, size,",
        ),
        ("models.testbed", {"batch_words": 60}, ": batch_words (60) must exceed max_length (60)"),
        ("models.testbed", {"learning_rate": 3e38}, ".learning_rate: 3e+38 is greater than"),
        ("models.testbed", {"schedule": "none"}, ": schedule none has no warm-up: set warmup to 0"),
        ("languages.source.charset", "latn-2", ": 'latn-2' is not a text encoding"),
        ("seed", 2**32, ": 4294967296 is greater than the maximum of 4294967295"),
        ("train", {"dev": "testbed_test"}, ": dev and test are both 'testbed_test'"),
        ("train.corpora", [], ": [] "),
        ("generate.corpora", [], ": [] "),
        (
            "systems.parabank2",
            {"select": {"keep": {"max_sum": 9.0}}},
            ": select.keep.max_sum (9.0) is above score.prune_above (3.5)",
        ),
        (
            "systems.parabank2.select.keep",
            {"quantile": 0.5},
            ": give one of max_sum, quantile, reference_quantile a number "
            "(now max_sum and quantile), and set the others to null",
        ),
        (
            "systems.parabank2.select.keep",
            {"reference_quantile": 0.5},
            ": give one of max_sum, quantile, reference_quantile a number "
            "(now max_sum and reference_quantile), and set the others to null",
        ),
        (
            "systems.parabank2.select.keep",
            {"max_sum": None},
            ": give one of max_sum, quantile, reference_quantile a number, and set the others to "
            "null",
        ),
        (
            "systems.parabank2",
            {"select": {"best": 9}},
            ": select.best (9) needs at least as many clusters",
        ),
        ("systems.parabank2.constraints.fraction", [0.5, 0.1], ": 0.5 is greater than 0.1"),
        ("run.training_sets", ["al"], ": 'al' is not in training_sets; did you mean 'all'?"),
        (
            "training_sets.all",
            {"bounds": {"overlp_1": [0, 1]}},
            ": 'overlp_1' is no column of pairs; did you mean 'overlap_1'?",
        ),
        (
            "training_sets.all",
            {"grid": {"bounds": {"sum": [[0, 1], [2, 1]]}}},
            ": bounds of sum: 2 is greater than 1",
        ),
        (
            "training_sets.all",
            {"grid": {"bounds": {"sum": {"low": [3], "high": [2]}}}},
            ": bounds of sum: 3 is greater than 2",
        ),
        (
            "training_sets.all",
            {"tune": True, "grid": {"sample": [5, 6]}},
            ".tune: the best point is chosen on development data; name data sets",
        ),
        ("columns.lstm.classifier.test", 0.1, ": it needs negatives; add negatives: [random]"),
        (
            "columns.lstm.classifier",
            {"test": 0.9, "negatives": ["random"]},
            ": validation and test together leave no reference",
        ),
        ("columns.lstm.classifier.whole_list", True, ": it needs negatives"),
        (
            "columns.perplexity.language_model",
            {"each_corpus": True, "corpora": ["testbed"]},
            ": each_corpus is every paraphrased corpus by itself; write corpora: null",
        ),
        (
            "columns.parabank2",
            {"vectors": {"file": "v"}},
            ": the name is taken in systems; choose another",
        ),
        ("columns.perplexity.language_model.corpora", ["web"], ": 'web' is not among run.corpora"),
        ("columns.x", {}, ": "),
        ("release.quoted.Doe.Table 1.Theirs.2012", "66.6", ": '66.6' is not of type 'number'"),
        (
            "release.quoted.Doe.Table 1.Theirs",
            {2012: 66.6},
            ": key 2012 is no text; put it in quotes",
        ),
        ("evaluate.columns", ["lstn"], ": 'lstn' is not in columns"),
        (
            "evaluate.variant_pairs",
            [["s17", "s99"]],
            ".0: no system of this run has the variants s17 and s99",
        ),
        ("training_sets.all.systems", ["paranmt"], ": 'paranmt' is not among run.systems"),
        (
            "training_sets.all",
            {"folds": {"column": "rank", "of": 10, "keep": [11]}},
            ": folds.keep: 11 is more than folds.of (10)",
        ),
        ("training_sets.all.folds", {"column": "rank", "of": 10}, ": key 'keep' is missing"),
        ("training_sets.all.grid.keep", [[1]], ": it needs folds"),
        ("training_sets.all.first", "folds", ": folds can't be first where"),
        (
            "training_sets.all",
            {"grid": {"corpora": [["testbd"]]}},
            ".corpora: references of 'testbd' are not paraphrased; did you mean 'testbed'",
        ),
        ("training_sets.all.ranks", [1, 1], ""),
        ("run.embeddings", ["wrd"], ": 'wrd' is not in embeddings; did you mean 'word'?"),
        ("run", {"training_sets": []}, ".embeddings: there is nothing to train on"),
        ("embeddings.word.training_sets", ["some"], ": 'some' is not among run.training_sets"),
        (
            "embeddings.word.model",
            {"encoders": ["blstm"], "hidden": 5},
            ".hidden: blstm needs an even number",
        ),
        (
            "embeddings.word.model",
            {"encoders": ["word", "lstm"], "combine": "add", "hidden": 200},
            ": to add encoders, dimension and hidden must be the same",
        ),
        (
            "embeddings.word.model",
            {"encoders": ["trigram"], "vectors": "v.txt"},
            ".vectors: only encoders of words",
        ),
        (
            "systems.parabank2.search",
            {"method": "beam"},
            ": key 'beam_size' is missing, which method beam needs",
        ),
        (
            "systems.parabank2.search",
            {"method": "beam", "beam_size": 4},
            ": method beam has no key 'samples'; take it out",
        ),
        (
            "dual_filter",
            {"enabled": True, "method": "cross_entropy"},
            ": key 'min_score' is missing, which method cross_entropy needs",
        ),
        # Also where no role has the model, or no run the system.
        (
            "models.own",
            {"source_model": "s", "reference_model": "r"},
            ": 'source_model' needs key 'folder', which is missing",
        ),
        (
            "systems.bt2017.search",
            {"beem_size": 2},
            ": unknown key 'beem_size'; did you mean 'beam_size'?",
        ),
        ("systems.bt2017.search.beam_size", "2", ": '2' is not of type 'integer' (Hypotheses kept"),
        (
            "embeddings.word.model.dimension",
            0,
            ": 0 is less than the minimum of 1 (Numbers in a token's vector; default: 300)",
        ),
        ("systems.bt2017.search.method", "bem", ": 'bem' is not one of ['sample', 'beam']"),
    ],
)
def test_message_names_the_key(config, path, value, problem):
    assert f"{path}{problem}" in refusal(config, at(path, value))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("override", "expected"),
    [
        (
            {"train": {"test": "demo_test"}},
            "corpora.demo_test is in 'pt' by its languages.source, and languages.source.code is "
            "'cs'; name another corpus in train.test, or null",
        ),
        ({"run": {"corpora": ["testbed", "demo"]}}, "name another corpus in run.corpora"),
        (
            {
                "models": {"small": {"size": 8, "heads": 2}},
                "train": {"models": {"forward": "small"}},
            },
            "models.small: key 'learning_rate' is missing",
        ),
        (
            {
                "systems": {"paranmt": {"select": {"method": "cluster"}}},
                "run": {"systems": ["paranmt"]},
            },
            "systems.paranmt.select: key 'clusters' is missing, which a method with clusters needs",
        ),
        (
            {"training_sets": {"all": {"tune": True}}, "sts": {"development": ["2016"]}},
            "training_sets.all.tune: there is nothing to choose among; give it a grid",
        ),
        (
            {"evaluate": {"columns": ["perplexity"]}, "generate": {"limit": None}},
            "columns.perplexity.language_model: all references of its corpora are paraphrased",
        ),
        (
            {
                "evaluate": {"columns": ["perplexity"]},
                "columns": {"perplexity": {"language_model": {"each_corpus": True}}},
            },
            "columns.perplexity.language_model: all references of testbed_held_out are paraphrased",
        ),
        (
            {
                "evaluate": {"columns": ["perplexity"]},
                "columns": {
                    "perplexity": {"language_model": {"references": 9, "corpora": ["testbed"]}}
                },
            },
            "columns.perplexity.language_model.corpora: with references it learns from those that",
        ),
        (
            {"clean": {"filter": False, "entities": "reject"}},
            "clean.filter: false rejects nothing by entities; take one of them out",
        ),
        (
            {"systems": {"paranmt": {"search": {"nbest": 20}}}, "run": {"systems": ["paranmt"]}},
            "systems.paranmt.search: nbest (20) is above beam_size (12)",
        ),
        (
            {"dual_filter": {"enabled": True}, "corpora": {"testbed": {"trusted": False}}},
            "no corpus of train.corpora is trusted",
        ),
        (
            {"dual_filter": {"enabled": True}, "train": {"corpora": ["testbd"]}},
            "train.corpora: 'testbd' is not among run.corpora",
        ),
    ],
)
def test_message_names_the_key_that_does_not_go_with_another(config, override, expected):
    assert expected in refusal(config, override)


IDF = {"bounds": [7.0, 17.0], "min_references": 1, "exempt": []}
BEAM = {"method": "beam", "beam_size": 4}
SAMPLE = {"method": "sample", "k": 10, "samples": 3}


def negative(**changes):
    return {"kind": "negative", "choose": {"highest": 1}} | changes


def one(**changes):
    """Constraints with one variant."""
    return {"variants": {"a": negative(**changes)}}


@pytest.mark.parametrize(
    ("constraints", "problem"),
    [
        (
            {"spare": {"capitalised": "always"}},
            ".spare.capitalised: 'always' is not one of [None, 'inside', 'everywhere']",
        ),
        ({"spare": {"digit": True}}, ".spare: unknown key 'digit'; did you mean 'digits'?"),
        ({"idff": IDF}, ": unknown key 'idff'; did you mean 'idf'?"),
        ({"variants": {}}, ".variants: {} "),
        ({"variants": {"a": False}}, ".variants: all are false"),
        ({"variants": {"a": True}}, ".variants.a: True should not be"),
        ({"variants": {"a": negative(kind="pair"), "b": False}}, ".variants.a: constraints.pairs"),
        (one(kid=1), ".variants.a: unknown key 'kid'"),
        (one(choose={"higest": 1}), ".variants.a.choose: unknown key 'higest'; did you mean 'hig"),
        ({"variants": {"a": {"kind": "negative"}}}, ".variants.a: key 'choose' is missing"),
        ({"idf": IDF | {"bounds": [9, 7]}}, ".idf.bounds: 9 is greater than 7"),
        ({"idf": None}, ".idf: None is not of type 'object'"),
        ({"pairs": {"ppdb": "a", "list": "b"}}, ".pairs: "),
        (
            one(kind="positive", choose={"first": 1}),
            ".variants.a: choose first is for kind negative",
        ),
        (
            one(choose={"first": 1, "random": 1}),
            ".variants.a: choose first is for kind negative, alone",
        ),
        (
            one(relations=["Equivalence"]),
            ".variants.a: kind negative has no key 'relations'",
        ),
        (one(kind="pair"), ".variants.a: constraints.pairs is missing"),
        (
            one(kind="pair") | {"pairs": {"ppdb": "p"}},
            ".variants.a: relations are for pairs of a ppdb file, and needed there",
        ),
        (
            one(kind="pair", relations=["Equivalence"]) | {"pairs": {"list": "p"}},
            ".variants.a: relations are for pairs of a ppdb file",
        ),
        (
            one(kind="pair", inflect=True) | {"pairs": {"list": "p"}},
            ".variants.a: kind pair has no key 'inflect'",
        ),
        (
            one(inflect="verb"),
            ".variants.a: inflect verb is not for kind negative; write inflect: true",
        ),
        (
            one(kind="positive", inflect=True),
            ".variants.a: inflect true is not for kind positive; write inflect: verb",
        ),
        (one(paraphrase="random"), ".variants.a: kind negative has no key 'paraphrase'"),
        (
            one(choose={"highest": [0]}),
            ".variants.a.choose.highest.0: 0 is less than the minimum of 1",
        ),
        (
            {"without_words": "free", "tagger": {"folder": "f"}},
            ".tagger: key 'package' is missing",
        ),
        (
            {"search": SAMPLE, **one(kind="positive")},
            ".variants.a: kind positive needs search.method beam",
        ),
    ],
)
def test_message_names_the_variant(config, constraints, problem):
    constraints = {"idf": IDF, "variants": {"a": None}} | constraints
    search = constraints.pop("search", BEAM)
    own = {"search": search, "constraints": constraints}
    config["systems"]["own"] = config["systems"]["paranmt"] | own
    expected = f"systems.own.constraints{problem}"
    assert expected in refusal(config, {"run": {"systems": ["own"]}})


@pytest.mark.parametrize(
    ("search", "expected"),
    [
        ({"k": None}, "parabank2.search: method sample needs one of k, top_p, min_p, epsilon"),
        ({"k": 0}, "parabank2.search.k: 0 is less than the minimum of 1"),
        (
            {"top_p": 1.0},
            "parabank2.search.top_p: 1.0 is greater than or equal to the maximum of 1",
        ),
        ({"min_p": 0}, "parabank2.search.min_p: 0 is less than or equal to the minimum of 0"),
        ({"epsilon": "0.1"}, "parabank2.search.epsilon: '0.1' is not of type 'number', 'null'"),
        ({"top_k": 5}, "parabank2.search: unknown key 'top_k'; did you mean 'top_p'"),
    ],
)
def test_message_names_the_truncation(config, search, expected):
    assert expected in refusal(config, {"systems": {"parabank2": {"search": search}}})


RANDOM = {"kind": "negative", "choose": "random", "sets": 2, "fraction": [0, 0.3]}


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ({}, ": key 'search' is missing, which a system that generates needs, or 'searches' with"),
        (
            {"search": BEAM, "searches": {"a": BEAM}},
            ": it has search and searches; set one of them to null",
        ),
        ({"searches": {"a": False}}, ".searches: all are false, which leaves them out; keep one"),
        ({"searches": {"a": {"method": "bem"}}}, ".searches.a.method: 'bem' is not one of"),
        ({"searches": {"a": 3}}, ".searches.a: 3 is not of type 'object', 'boolean' (One of the"),
        (
            {"searches": {"a": {"method": "sample", "samples": 2}}},
            ".searches.a: method sample needs one of k, top_p",
        ),
        (
            {"searches": {"ab": BEAM}, "constraints": {**RANDOM, "searches": ["abc"]}},
            ".constraints.searches: 'abc' is not among systems.own.searches; did you mean 'ab'?",
        ),
        (
            {"search": BEAM, "constraints": {**RANDOM, "searches": ["a"]}},
            ".constraints.searches: 'a' is not among systems.own.searches; take the key out",
        ),
        (
            {"search": BEAM, "sources": {"human": False}},
            ".sources: human is false and written is 0, so there are none; give one",
        ),
        (
            {"search": BEAM, "sources": {"written": 6}},
            ".sources.written: 6 is above the 5 that systems.own.sources.search gives at most",
        ),
        (
            {"search": BEAM, "sources": {"written": 1, "search": {**BEAM, "nbest": 5}}},
            ".sources.search: nbest (5) is above beam_size (4)",
        ),
        ({"search": BEAM, "sources": {"writen": 1}}, ".sources: unknown key 'writen'; did you"),
        (
            {"search": BEAM, "sources": {"written": 1}, "rewriter": {"name": "r"}},
            ".sources: a rewriter reads the reference and no source; take it out",
        ),
    ],
)
def test_message_names_what_is_wrong_with_a_pool(config, own, expected):
    config["systems"]["own"] = config["systems"]["paranmt"] | {"search": None} | own
    assert f"systems.own{expected}" in refusal(config, {"run": {"systems": ["own"]}})


def test_a_recipe_puts_a_pool_in_the_place_of_a_search_and_takes_parts_out(config):
    pool = {"search": None, "searches": {"beam": BEAM, "few": SAMPLE}}
    constraints = {"constraints": {"searches": ["few"]}}
    with_pool = merged(config, {"systems": {"parabank2": pool | constraints}})
    validate(with_pool)
    validate(merged(with_pool, {"systems": {"parabank2": {"searches": {"few": False}}}}))
    alone = {"search": SAMPLE, "searches": None, "constraints": None}
    validate(merged(with_pool, {"systems": {"parabank2": alone}}))
    variants = {"constraints": {"variants": {"a": None}}, "sources": {"written": 1}}
    with_pool["systems"]["own"] = config["systems"]["paranmt"] | pool | variants
    validate(merged(with_pool, {"run": {"systems": ["own"]}}))


@pytest.mark.parametrize("cut", [{"top_p": 0.9}, {"min_p": 0.05}, {"epsilon": 0.01, "top_p": 0.5}])
def test_a_recipe_takes_another_truncation_than_the_catalogue(config, cut):
    search = {"k": None, **cut}
    validate(merged(config, {"systems": {"parabank2": {"search": search}}}))


def test_choice_by_idf_needs_bounds_and_inflection_english(config):
    own = config["systems"]["paranmt"] | {"constraints": {"variants": {"a": negative()}}}
    config["systems"]["own"] = own
    assert "variants.a: constraints.idf is missing" in refusal(
        config, {"run": {"systems": ["own"]}}
    )
    own["constraints"] = {"idf": IDF, "variants": {"a": negative(inflect=True), "b": None}}
    validate(merged(config, {"run": {"systems": ["own"]}}))
    languages = {"reference": {"code": "de"}}
    german = {"run": {"systems": ["own"]}, "languages": languages}
    validate(merged(config, german))  # the variant is switched off
    own["constraints"]["variants"] = {"a": negative(inflect=True), "c": False}
    expected = "own.constraints.variants: all inflect, which knows English (en) only, and the"
    assert expected in refusal(config, german)


@pytest.mark.parametrize("side", ["source", "reference"])
def test_languages_without_blanks_are_refused_where_words_count(config, side):
    config["languages"][side]["code"] = "ja"
    config["clean"]["min_words"] = 2
    text = refusal(config, {})
    assert f"clean.min_words: the {side} side is 'ja', written without blanks" in text
    assert f"languages.{side}.segmented: true" in text
    config["clean"]["min_words"] = 1
    if side == "reference":
        assert "systems.parabank2.constraints: they choose words" in refusal(config, {})
        config["run"]["systems"] = ["paranmt"]
    validate(config)
    config["languages"][side]["segmented"] = True
    config["run"]["systems"] = ["parabank2"]
    config["clean"]["min_words"] = 2
    validate(config)


def test_every_check_of_a_stage_is_asked():
    """Each of workflow_scripts/stages/*/checks.py, and problems are told along the flow."""
    own = [check for check in checks_of(STAGES) if check is not Stage.problems]
    modules = [check.__module__ for check in own]
    folders = [file.parent.name for file in ROOT.glob("workflow_scripts/stages/*/checks.py")]
    assert sorted(modules) == sorted(
        [
            "workflow_scripts.plan.checks",
            *(f"workflow_scripts.stages.{name}.checks" for name in folders),
        ]
    )
    stages = [module.split(".")[-2] for module in modules]
    assert stages == ["plan", *(stage.name for stage in STAGES if stage.name in stages)]


@pytest.mark.slow
def test_checks_need_no_more_than_the_snakefile_has():
    """And what jobs read of the configuration not even that: their environments lack jsonschema."""
    code = "import sys, {}; found = {} & set(sys.modules); assert not found, found"
    jobs = "workflow_scripts.stages.train.model_checks, workflow_scripts.plan.catalogues.embeddings"
    heavy = {"numpy", "pyarrow", "torch", "pandas", "sentencepiece", "tokenizers"}
    unknown = {*heavy, "jsonschema", "snakemake"}
    for modules, absent in (("workflow_scripts.stages.catalogue", heavy), (jobs, unknown)):
        command = [sys.executable, "-c", code.format(modules, absent)]
        subprocess.run(command, check=True, cwd=ROOT)


def test_each_missing_key_is_named_once(config):
    del config["subword"]["alpha"], config["subword"]["nbest"]
    with pytest.raises(InputError) as error:
        validate(config)
    assert str(error.value).count("key 'alpha' is missing") == 1
    assert str(error.value).count("key 'nbest' is missing") == 1


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://a.org/v7/de-en.tgz", "de-en.tgz"),
        ("https://a.org/get?file=../../x", "get"),
        ("https://a.org/a%2F..%2F.hidden%20x;rm", "hidden_x_rm"),
        ("https://a.org/", "file"),
        ("https://a.org/-rf", "rf"),
    ],
)
def test_name_of_a_downloaded_file_is_harmless(url, name):
    assert file_name(url) == name
