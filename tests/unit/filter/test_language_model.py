import sys

import numpy as np
import pytest

from tests.unit.filter.conftest import arguments, pair, write_table
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.files.manifest import read_record, write_record
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import PairColumnsRow, PairRow, PairValueRow
from workflow_scripts.stages.filter import kenlm as programs
from workflow_scripts.stages.filter import language_model, perplexity
from workflow_scripts.stages.filter.kenlm import LanguageModel, estimate
from workflow_scripts.stages.generate.sample_references import place
from workflow_scripts.stages.judge.features import Models, compute
from workflow_scripts.stages.judge.known_pairs import Pairs

SUBJECTS, VERBS = ["The dog", "A cat", "My brother", "The old man"], ["sees", "likes", "hears"]
OBJECTS = ["the house.", "a red car.", "an apple.", "the river."]
SENTENCES = [f"{one} {two} {three}" for one in SUBJECTS for two in VERBS for three in OBJECTS]
CONFIG = {"order": 3, "corpora": ["train", "web"]}


@pytest.fixture
def folder(tmp_path):
    """Pairs of three corpora; half the references of `train` are paraphrased."""
    rows = [
        {"id": f"{corpus}:{number}", "source": "z", "reference": text, "corpus": corpus}
        for corpus in ("train", "web", "dev")
        for number, text in enumerate(SENTENCES)
    ]
    for shard in (0, 1):
        write_table(tmp_path / f"000{shard}.parquet", PairRow, rows[shard::2])
    return tmp_path


def sample(folder, cutoffs):
    write_json(folder / "sample.json", {"cutoffs": cutoffs, "seed": 1})
    write_record(folder / "sampling", 0, 0, {}, files=[folder / "sample.json"])
    return folder / "sample.json"


def trained(folder, cutoffs, config=CONFIG, **options):
    model = folder / "model" / options.get("corpus", "") / "model.binary"
    given = {"folder": folder, "shards": 2, "sample": sample(folder, cutoffs), "output": model}
    language_model.main(arguments(config, **given, **options))
    return model


@pytest.mark.slow
def test_references_that_are_paraphrased_are_kept_apart(folder, kenlm_module):
    places = sorted(place(1, f"train:{number}") for number in range(len(SENTENCES)))
    model = trained(folder, {"train": places[19]})
    record = read_record(model.with_name("model"))
    assert record["rejected"] == {"paraphrased": 20, "other_corpus": len(SENTENCES)}
    assert record["rows_out"] == 2 * len(SENTENCES) - 20
    first = model.read_bytes()
    assert trained(folder, {"train": places[19]}).read_bytes() == first


@pytest.mark.slow
def test_a_model_that_learns_from_all_that_is_paraphrased_leaves_no_pair(folder, kenlm_module):
    config = {**CONFIG, "order": 2, "references": 500, "seed": 1}
    with pytest.raises(InputError, match=r"learns from all 48 references of .*references below 48"):
        trained(folder, {"train": None, "web": None}, config)


@pytest.mark.slow
def test_perplexity_of_every_paraphrase(folder, kenlm_module, tmp_path):
    model = trained(folder, {"train": None})
    texts = ["The dog sees a red car.", "Car red a sees dog the.", "Zebras yawn.", "..."]
    rows = [pair(f"c:{number}", 1, "A cat.", text) for number, text in enumerate(texts)]
    shard = write_table(tmp_path / "in" / "0000.parquet", PairColumnsRow, rows)
    output = tmp_path / "out" / "0000.parquet"
    given = {"pairs": shard, "model": model.parent, "output": output}
    perplexity.main(arguments({}, **given))
    found = list(read_rows(output, PairValueRow))
    assert [(row["id"], row["rank"]) for row in found] == [(row["id"], 1) for row in rows]
    values = [row["value"] for row in found]
    assert values[0] < 10 < values[1]
    assert values[0] < 10 < values[2]
    assert all(np.isfinite(values))

    # The same model, relative to the reference.
    perplexity.main(arguments({"relative": True}, **given))
    found = [row["value"] for row in read_rows(output, PairValueRow)]
    (of_reference,) = LanguageModel(model).perplexity(["A cat."])
    np.testing.assert_allclose(found, np.log(of_reference) - np.log(values), rtol=1e-5)
    pairs = Pairs(["A cat."] * len(texts), texts)
    models = Models(language_model=LanguageModel(model))
    np.testing.assert_allclose(
        compute(pairs, ["language_model"], models)["language_model"], found, rtol=1e-6
    )


@pytest.mark.slow
def test_each_corpus_has_a_model_of_some_paraphrased_references(folder, kenlm_module, tmp_path):
    """Wieting et al. (2017), 5.6: what a model learnt from is not filtered by it."""
    # In web there are other references as well, each three times.
    names = {"source": "z", "corpus": "web"}
    rows = [
        {"id": f"web:x{number}", "reference": f"Zebra {number // 3} yawns.", **names}
        for number in range(120)
    ]
    rows += read_rows(folder / "0001.parquet", PairRow)
    write_table(folder / "0001.parquet", PairRow, rows)
    every = {"train": None, "web": None}
    config = {**CONFIG, "order": 2, "references": 30, "seed": 1}
    records = {
        corpus: read_record(trained(folder, every, config, corpus=corpus).with_name("model"))
        for corpus in every
    }
    assert {record["rows_out"] for record in records.values()} == {30}
    assert records["train"]["rejected"] == {"sample": 18, "other_corpus": 216}
    assert records["web"]["rejected"]["same_reference"] > 0
    pairs = [
        pair(f"{corpus}:{number}", 1, text, "A cat sees the house.")
        for corpus in every
        for number, text in enumerate(SENTENCES)
    ]
    shard = write_table(tmp_path / "in" / "0000.parquet", PairColumnsRow, pairs)
    output = tmp_path / "out" / "0000.parquet"
    given = arguments({}, pairs=shard, model=folder / "model", output=output)
    perplexity.main([*given, "--corpora", *every])
    values = {row["id"]: row["value"] for row in read_rows(output, PairValueRow)}
    of = {corpus: [values[key] for key in values if key.startswith(corpus)] for corpus in every}
    assert of["train"].count(None) == 30
    assert 0 < of["web"].count(None) < 30
    ((one,), (other,)) = ({value for value in found if value} for found in of.values())
    assert one != other
    with pytest.raises(InputError, match=r"none is paraphrased; raise generate\.limit"):
        trained(folder, {}, config, corpus="web")


@pytest.mark.slow
def test_it_is_kenlms_own_value(kenlm_module, tmp_path):
    sentences = [text.lower().rstrip(".").split() for text in SENTENCES]
    assert estimate(iter(sentences), 2, tmp_path / "model") == len(sentences)
    own = kenlm_module.Model(str(tmp_path / "model"))
    expected = [own.perplexity(" ".join(words)) for words in sentences[:5]]
    asked = LanguageModel(tmp_path / "model")
    assert asked.perplexity(SENTENCES[:5]) == pytest.approx(expected)
    # All subjects are alike to it, and so on: no sentence is far from the others.
    assert np.ptp(asked.log_probability(SENTENCES[:5])) < 0.5


@pytest.mark.slow
def test_a_damaged_model_is_said(kenlm_module, tmp_path):
    estimate([["a", "b"]], 2, tmp_path / "model")
    with (tmp_path / "model").open("r+b") as model:
        model.truncate(50)
    with pytest.raises(InputError, match=r"KenLM can't read .*model"):
        LanguageModel(tmp_path / "model")


def test_nothing_left_is_said(folder):
    with pytest.raises(InputError, match=r"no reference of train, web is left"):
        trained(folder, {"train": None, "web": None})


def test_missing_programs_are_said(monkeypatch, tmp_path):
    monkeypatch.setattr(programs.sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match=r"lmplz.*`make deps`"):
        estimate([["a"]], 3, tmp_path / "model")


def test_a_missing_module_is_said(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "kenlm", None)
    with pytest.raises(InputError, match=r"module kenlm.*`make deps`"):
        LanguageModel(tmp_path / "model")
