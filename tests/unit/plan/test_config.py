import subprocess
import sys

import pytest
import yaml

from tests.configs import ROOT, changes, merged, refusal, refusals, run_on_testbed
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.paths import file_name
from workflow_scripts.plan.layout import checks_of
from workflow_scripts.plan.resolve import resolve
from workflow_scripts.plan.stage import Stage
from workflow_scripts.stages.catalogue import STAGES, validate


@pytest.fixture
def config():
    return run_on_testbed()


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


# Also of models that no role has, and of systems that no run has.
REFUSED = """
systems.parabank2.select: {keeep: 1} => : unknown key 'keeep'; did you mean 'keep'?
corpora.testbed.testbed: {frist: 1} => : unknown key 'frist'; did you mean 'first'?
seed: one => : 'one' is not of type 'integer'
generate.limit: 0 => : 0 is less than the minimum of 1
generate.limit: {tesbed: 1} => : 'tesbed' is not in corpora; did you mean
corpora.x: {source: a} => : key 'reference' is missing
corpora.x: {source: a, reference: b, tsv: c} => : One corpus: exactly one of
corpora.x: {tsv: c} => : 'tsv' needs key 'columns', which is missing
corpora.x: {source: a, reference: b, columns: {source: 0, reference: 1}} => : 'columns' needs key
    'tsv', which is missing
corpora.x: {source: a, reference: b, header: true} => : 'header' needs key 'tsv', which is missing
run.systems: [parabnk2] => : 'parabnk2' is not in systems; did you mean
corpora.x: {url: 'http://a/b', tsv: b, columns: {source: 0, reference: 1}, sha256: abc} => .sha256
corpora.x: {url: 'http://a/b', tsv: c/d, columns: {source: 0, reference: 1}} => .tsv: 'c/d' does not
    begin with
corpora.x: {url: null, tsv: b, columns: {source: 0, reference: 1}, sha256: null} => .url
corpora.x: {url: 'http://a/b', tsv: b, columns: {source: 0, reference: 1}, sha256:
    ['0000000000000000000000000000000000000000000000000000000000000000',
    '1111111111111111111111111111111111111111111111111111111111111111']} => : 1 url, but 2 sha256
corpora.x: {url: ['http://a/b', 'http://c/b'], tsv: b, columns: {source: 0, reference: 1}} => .url:
    two files of the name b
corpora.x.mtdata: europarl => : 'europarl' does not match
run.corpora: [testbed, nowhere] => : 'nowhere' is not in corpora
train.corpora: [testbed_dev] => : 'testbed_dev' is not among run.corpora
train.models.forward: huge => : 'huge' is not in models
train: {dev: testbed} => : 'testbed' can't be trained on and measured on
shards: {early: 5} => : late (2) does not divide early (5)
compute: {device: cuda, precision: int8} => .precision: int8 is for CPUs; with device cuda take bf16
subword: {model_type: bpe, samples: 4} => : bpe has no sampled segmentations
models.testbed: {heads: 3} => : heads (3) does not divide size
models.testbed: {folder: m} => : unknown encoder_layers, decoder_layers, size,
models.testbed: {folder: m, source_model: s, reference_model: r} => : unknown encoder_layers,
    decoder_layers, size,
models.testbed: {batch_words: 60} => : batch_words (60) must exceed max_length (60)
models.testbed: {learning_rate: 3.0e+38} => .learning_rate: 3e+38 is greater than
models.testbed: {schedule: none} => : schedule none has no warm-up: set warmup to 0
languages.source.charset: latn-2 => : 'latn-2' is not a text encoding
seed: 4294967296 => : 4294967296 is greater than the maximum of 4294967295
train: {dev: testbed_test} => : dev and test are both 'testbed_test'
train.corpora: [] => : [] should be non-empty
generate.corpora: [] => : [] should be non-empty
systems.parabank2: {select: {keep: {max_sum: 9.0}}} => : select.keep.max_sum (9.0) is above
    score.prune_above (3.5)
systems.parabank2.select.keep: {quantile: 0.5} => : give one of max_sum, quantile,
    reference_quantile a number (now max_sum and quantile), and set the others to null
systems.parabank2.select.keep: {reference_quantile: 0.5} => : give one of max_sum, quantile,
    reference_quantile a number (now max_sum and reference_quantile), and set the others to null
systems.parabank2.select.keep: {max_sum: null} => : give one of max_sum, quantile,
    reference_quantile a number, and set the others to null
systems.parabank2: {select: {best: 9}} => : select.best (9) needs at least as many clusters
systems.parabank2.constraints.fraction: [0.5, 0.1] => : 0.5 is greater than 0.1
run.training_sets: [al] => : 'al' is not in training_sets; did you mean 'all'?
training_sets.all: {bounds: {overlp_1: [0, 1]}} => : 'overlp_1' is no column of pairs; did you mean
    'overlap_1'?
training_sets.all: {grid: {bounds: {sum: [[0, 1], [2, 1]]}}} => : bounds of sum: 2 is greater than 1
training_sets.all: {grid: {bounds: {sum: {low: [3], high: [2]}}}} => : bounds of sum: 3 is greater
    than 2
training_sets.all: {tune: true, grid: {sample: [5, 6]}} => .tune: the best point is chosen on
    development data; name data sets
columns.lstm.classifier.test: 0.1 => : it needs negatives; add negatives: [random]
columns.lstm.classifier: {test: 0.9, negatives: [random]} => : validation and test together leave no
    reference
columns.lstm.classifier.whole_list: true => : it needs negatives
columns.perplexity.language_model: {each_corpus: true, corpora: [testbed]} => : each_corpus is every
    paraphrased corpus by itself; write corpora: null
columns.parabank2: {vectors: {file: v}} => : the name is taken in systems; choose another
columns.perplexity.language_model.corpora: [web] => : 'web' is not among run.corpora
columns.x: {} => :
release.quoted.Doe.Table 1.Theirs.2012: '66.6' => : '66.6' is not of type 'number'
release.quoted.Doe.Table 1.Theirs: {2012: 66.6} => : key 2012 is no text; put it in quotes
evaluate.columns: [lstn] => : 'lstn' is not in columns
evaluate.variant_pairs: [[s17, s99]] => .0: no system of this run has the variants s17 and s99
training_sets.all.systems: [paranmt] => : 'paranmt' is not among run.systems
training_sets.all: {folds: {column: rank, of: 10, keep: [11]}} => : folds.keep: 11 is more than
    folds.of (10)
training_sets.all.folds: {column: rank, of: 10} => : key 'keep' is missing
training_sets.all.grid.keep: [[1]] => : it needs folds
training_sets.all.first: folds => : folds can't be first where
training_sets.all: {grid: {corpora: [[testbd]]}} => .corpora: references of 'testbd' are not
    paraphrased; did you mean 'testbed'
training_sets.all.ranks: [1, 1] => :
run.embeddings: [wrd] => : 'wrd' is not in embeddings; did you mean 'word'?
run: {training_sets: []} => .embeddings: there is nothing to train on
embeddings.word.training_sets: [some] => : 'some' is not among run.training_sets
embeddings.word.model: {encoders: [blstm], hidden: 5} => .hidden: blstm needs an even number
embeddings.word.model: {encoders: [word, lstm], combine: add, hidden: 200} => : to add encoders,
    dimension and hidden must be the same
embeddings.word.model: {encoders: [trigram], vectors: v.txt} => .vectors: only encoders of words
systems.parabank2.search: {method: beam} => : key 'beam_size' is missing, which method beam needs
systems.parabank2.search: {method: beam, beam_size: 4} => : method beam has no key 'samples'; take
    it out
dual_filter: {enabled: true, method: cross_entropy} => : key 'min_score' is missing, which method
    cross_entropy needs
models.own: {source_model: s, reference_model: r} => : 'source_model' needs key 'folder', which is
    missing
systems.bt2017.search: {beem_size: 2} => : unknown key 'beem_size'; did you mean 'beam_size'?
systems.bt2017.search.beam_size: '2' => : '2' is not of type 'integer' (Hypotheses kept
embeddings.word.model.dimension: 0 => : 0 is less than the minimum of 1 (Numbers in a token's
    vector; default: 300)
systems.bt2017.search.method: bem => : 'bem' is not one of ['sample', 'beam']
train.test: demo_test => corpora.demo_test is in 'pt' by its languages.source, and
    languages.source.code is 'cs'; name another corpus in train.test, or null
run.corpora: [testbed, demo] => name another corpus in run.corpora
{models.small: {size: 8, heads: 2}, train.models.forward: small} => models.small: key
    'learning_rate' is missing
{systems.paranmt.select.method: cluster, run.systems: [paranmt]} => systems.paranmt.select: key
    'clusters' is missing, which a method with clusters needs
{training_sets.all.tune: true, sts.development: ['2016']} => training_sets.all.tune: there is
    nothing to choose among; give it a grid
{evaluate.columns: [perplexity], generate.limit: null} => columns.perplexity.language_model: all
    references of its corpora are paraphrased
{evaluate.columns: [perplexity], columns.perplexity.language_model.each_corpus: true} =>
    columns.perplexity.language_model: all references of testbed_held_out are paraphrased
{evaluate.columns: [perplexity], columns.perplexity.language_model: {references: 9, corpora:
    [testbed]}} => columns.perplexity.language_model.corpora: with references it learns from those
    that
clean: {filter: false, entities: reject} => clean.filter: false rejects nothing by entities; take
    one of them out
{systems.paranmt.search.nbest: 20, run.systems: [paranmt]} => systems.paranmt.search: nbest (20) is
    above beam_size (12)
{dual_filter.enabled: true, corpora.testbed.trusted: false} => no corpus of train.corpora is trusted
{dual_filter.enabled: true, train.corpora: [testbd]} => train.corpora: 'testbd' is not among
    run.corpora
{dual_filter: {enabled: true, dev: tetsbed}} => dual_filter.dev: 'tetsbed' is not in corpora; did
    you mean 'testbed'
{dual_filter: {enabled: true, dev: testbed_test}} => dual_filter: dev is train.test, 'testbed_test'
{dual_filter: {enabled: true, dev: testbed}} => train: 'testbed' can't be trained on and measured on
systems.parabank2.search: {k: null} => : method sample needs one of k, top_p, min_p, epsilon
systems.parabank2.search: {k: 0} => .k: 0 is less than the minimum of 1
systems.parabank2.search: {top_p: 1.0} => .top_p: 1.0 is greater than or equal to the maximum of 1
systems.parabank2.search: {min_p: 0} => .min_p: 0 is less than or equal to the minimum of 0
systems.parabank2.search: {epsilon: '0.1'} => .epsilon: '0.1' is not of type 'number', 'null'
systems.parabank2.search: {top_k: 5} => : unknown key 'top_k'; did you mean 'top_p'
"""


@pytest.mark.slow
@pytest.mark.parametrize(("change", "expected"), refusals(REFUSED))
def test_message_names_the_key(config, change, expected):
    assert expected in refusal(config, changes(change))


IDF = {"bounds": [7.0, 17.0], "min_references": 1, "exempt": []}
BEAM = {"method": "beam", "beam_size": 4}
SAMPLE = {"method": "sample", "k": 10, "samples": 3}


def negative(**changes):
    return {"kind": "negative", "choose": {"highest": 1}} | changes


# Of constraints that replace those of paranmt, beside its search or another.
VARIANTS = """
spare: {capitalised: always} => .spare.capitalised: 'always' is not one of [None, 'inside',
    'everywhere']
spare: {digit: true} => .spare: unknown key 'digit'; did you mean 'digits'?
idff: {bounds: [7.0, 17.0], min_references: 1, exempt: []} => : unknown key 'idff'; did you mean
    'idf'?
variants: {} => .variants: {}
variants: {a: false} => .variants: all are false
variants: {a: true} => .variants.a: True should not be
variants: {a: {kind: pair, choose: {highest: 1}}, b: false} => .variants.a: constraints.pairs
variants: {a: {kind: negative, choose: {highest: 1}, kid: 1}} => .variants.a: unknown key 'kid'
variants: {a: {kind: negative, choose: {higest: 1}}} => .variants.a.choose: unknown key 'higest';
    did you mean 'hig
variants: {a: {kind: negative}} => .variants.a: key 'choose' is missing
idf: {bounds: [9, 7], min_references: 1, exempt: []} => .idf.bounds: 9 is greater than 7
idf: null => .idf: None is not of type 'object'
pairs: {ppdb: a, list: b} => .pairs:
variants: {a: {kind: positive, choose: {first: 1}}} => .variants.a: choose first is for kind
    negative
variants: {a: {kind: negative, choose: {first: 1, random: 1}}} => .variants.a: choose first is for
    kind negative, alone
variants: {a: {kind: negative, choose: {highest: 1}, relations: [Equivalence]}} => .variants.a: kind
    negative has no key 'relations'
variants: {a: {kind: pair, choose: {highest: 1}}} => .variants.a: constraints.pairs is missing
{variants: {a: {kind: pair, choose: {highest: 1}}}, pairs: {ppdb: p}} => .variants.a: relations are
    for pairs of a ppdb file, and needed there
{variants: {a: {kind: pair, choose: {highest: 1}, relations: [Equivalence]}}, pairs: {list: p}} =>
    .variants.a: relations are for pairs of a ppdb file
{variants: {a: {kind: pair, choose: {highest: 1}, inflect: true}}, pairs: {list: p}} => .variants.a:
    kind pair has no key 'inflect'
variants: {a: {kind: negative, choose: {highest: 1}, inflect: verb}} => .variants.a: inflect verb is
    not for kind negative; write inflect: true
variants: {a: {kind: positive, choose: {highest: 1}, inflect: true}} => .variants.a: inflect true is
    not for kind positive; write inflect: verb
variants: {a: {kind: negative, choose: {highest: 1}, paraphrase: random}} => .variants.a: kind
    negative has no key 'paraphrase'
variants: {a: {kind: negative, choose: {highest: [0]}}} => .variants.a.choose.highest.0: 0 is less
    than the minimum of 1
{without_words: free, tagger: {folder: f}} => .tagger: key 'package' is missing
{search: {method: sample, k: 10, samples: 3}, variants: {a: {kind: positive, choose: {highest: 1}}}}
    => .variants.a: kind positive needs search.method beam
"""


@pytest.mark.parametrize(("constraints", "expected"), refusals(VARIANTS, "systems.own.constraints"))
def test_message_names_the_variant(config, constraints, expected):
    constraints = {"idf": IDF, "variants": {"a": None}} | yaml.safe_load(constraints)
    search = constraints.pop("search", BEAM)
    own = {"search": search, "constraints": constraints}
    config["systems"]["own"] = config["systems"]["paranmt"] | own
    assert expected in refusal(config, {"run": {"systems": ["own"]}})


POOLS = """
{} => : key 'search' is missing, which a system that generates needs, or 'searches' with
{search: {method: beam, beam_size: 4}, searches: {a: {method: beam, beam_size: 4}}} => : it has
    search and searches; set one of them to null
searches: {a: false} => .searches: all are false, which leaves them out; keep one
searches: {a: {method: bem}} => .searches.a.method: 'bem' is not one of
searches: {a: 3} => .searches.a: 3 is not of type 'object', 'boolean' (One of the
searches: {a: {method: sample, samples: 2}} => .searches.a: method sample needs one of k, top_p
{searches: {ab: {method: beam, beam_size: 4}}, constraints: {kind: negative, choose: random, sets:
    2, fraction: [0, 0.3], searches: [abc]}} => .constraints.searches: 'abc' is not among
    systems.own.searches; did you mean 'ab'?
{search: {method: beam, beam_size: 4}, constraints: {kind: negative, choose: random, sets: 2,
    fraction: [0, 0.3], searches: [a]}} => .constraints.searches: 'a' is not among
    systems.own.searches; take the key out
{search: {method: beam, beam_size: 4}, sources: {human: false}} => .sources: human is false and
    written is 0, so there are none; give one
{search: {method: beam, beam_size: 4}, sources: {written: 6}} => .sources.written: 6 is above the 5
    that systems.own.sources.search gives at most
{search: {method: beam, beam_size: 4}, sources: {written: 1, search: {method: beam, beam_size: 4,
    nbest: 5}}} => .sources.search: nbest (5) is above beam_size (4)
{search: {method: beam, beam_size: 4}, sources: {writen: 1}} => .sources: unknown key 'writen'; did
    you
{search: {method: beam, beam_size: 4}, sources: {written: 1}, rewriter: {name: r}} => .sources: a
    rewriter reads the reference and no source; take it out
"""


@pytest.mark.parametrize(("own", "expected"), refusals(POOLS, "systems.own"))
def test_message_names_what_is_wrong_with_a_pool(config, own, expected):
    own = {"search": None} | yaml.safe_load(own)
    config["systems"]["own"] = config["systems"]["paranmt"] | own
    assert expected in refusal(config, {"run": {"systems": ["own"]}})


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
