import json
import subprocess
import sys

import numpy as np
import pytest
import torch

from tests.unit.embed import examples
from workflow_scripts.core.errors import InputError
from workflow_scripts.encoding import embedding, parts
from workflow_scripts.encoding.embedding import (
    UNTRAINED,
    SentenceEmbeddings,
    cosines,
    load,
    save,
    similarities,
)
from workflow_scripts.encoding.encoders import ENCODERS, Encoder, Entry

SENTENCES = [
    "The doctor bought the car.",
    "the doctor bought the car",
    "",
    "Zyx!",
    *examples.sentences(examples.simulated_pairs(30, first=10)),
]
MODELS = [*((*each, "words") for each in examples.ARCHITECTURES), (["word"], "add", "pieces")]


@pytest.fixture(params=MODELS, ids=lambda given: f"{'+'.join(given[0])}-{given[2]}")
def built(request):
    encoders, combine, kind = request.param
    return examples.random_model(encoders, combine, kind)


def test_saved_models_give_the_same_vectors(built, tmp_path):
    expected = SentenceEmbeddings(built).encode(SENTENCES)
    files = save(tmp_path, built)
    assert files == sorted(tmp_path.iterdir())
    assert parts.WEIGHTS in {file.name for file in files}
    loaded = load(tmp_path)
    found = loaded.encode(SENTENCES)
    assert found.dtype == np.float32
    assert found.shape == (len(SENTENCES), loaded.size)
    assert np.array_equal(found, expected)


def test_saving_is_deterministic(built, tmp_path):
    contents = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        contents.append([file.read_bytes() for file in save(tmp_path / name, built)])
    assert contents[0] == contents[1]


@pytest.mark.slow
def test_a_sentence_has_one_vector_in_whatever_company(built):
    embeddings = SentenceEmbeddings(built)
    together = embeddings.encode(SENTENCES)
    alone = np.concatenate([embeddings.encode([sentence]) for sentence in SENTENCES])
    np.testing.assert_allclose(together, alone, atol=1e-6)
    assert together[0].any()
    # Without a token, of any kind, there is nothing.
    assert not together[2].any()


@pytest.mark.parametrize("by_length", [True, False])
def test_sentences_are_sorted_for_an_encoder_that_says_so(monkeypatch, by_length):
    batches = []

    class Last(Encoder, order_matters=True, sorted_by_length=by_length):
        """The vector of a sentence's last token."""

        def __init__(self, dimension, hidden):
            super().__init__()
            self.size = dimension

        def forward(self, vectors, tokens, dropout):
            ids, lengths = tokens
            batches.append(lengths.tolist())
            return vectors[ids[torch.cumsum(lengths, 0) - 1]]

    monkeypatch.setitem(ENCODERS, "last", Entry(Last))
    monkeypatch.setattr(embedding, "_PADDED_CHUNK", 2)
    built = examples.random_model(["last"], "add")
    first, second, third = built.tokenisers["words"].vocabulary[:3]
    lists = [[first] * 4 + [second], [third], [second] * 3, [first] * 2]
    found = SentenceEmbeddings(built).encode([" ".join(words) for words in lists])
    assert batches == ([[1, 2], [3, 5]] if by_length else [[5, 1, 3, 2]])
    expected = built.network.tables[0].detach()[[1, 2, 1, 0]].numpy()
    assert np.array_equal(found, expected)


def test_no_sentences_are_no_rows(built):
    assert SentenceEmbeddings(built).encode([]).shape == (0, built.network.size)


def test_sentence_transformers_loads_the_folder_and_gives_the_same_vectors(built, tmp_path):
    from sentence_transformers import SentenceTransformer

    save(tmp_path, built)
    expected = load(tmp_path).encode(SENTENCES)
    # The library's own modules are all that WORD on words needs: no code from the folder runs.
    library = SentenceTransformer(
        str(tmp_path), device="cpu", trust_remote_code=not built.stock, local_files_only=True
    )
    found = library.encode(SENTENCES, batch_size=7, show_progress_bar=False)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert library.get_embedding_dimension() == built.network.size
    assert library.similarity_fn_name == "cosine"


def test_an_input_that_is_no_sentence_is_refused():
    from workflow_scripts.encoding.sentence_module import SentenceModule

    module = SentenceModule(*examples.random_model(["word", "blstm"], "concatenate"))
    assert set(module.preprocess(["a dog"], prompt="See: ")) == {
        f"{name}{index}" for name in ("ids", "lengths") for index in range(2)
    }
    with pytest.raises(TypeError, match="sentences"):
        module.preprocess([("a dog", "a cat")])


def test_a_folder_that_is_nowhere_is_named(tmp_path, monkeypatch):
    from workflow_scripts.encoding.sentence_module import SentenceModule

    monkeypatch.setattr(SentenceModule, "load_dir_path", lambda *_: None)
    with pytest.raises(FileNotFoundError, match="elsewhere"):
        SentenceModule.load("elsewhere")


def test_what_the_library_saves_again_gives_the_same_vectors(tmp_path):
    from sentence_transformers import SentenceTransformer

    built = examples.random_model(["word", "blstm"], "concatenate")
    (tmp_path / "first").mkdir()
    save(tmp_path / "first", built)
    library = SentenceTransformer(
        str(tmp_path / "first"), device="cpu", trust_remote_code=True, local_files_only=True
    )
    library.save(str(tmp_path / "second"), create_model_card=False)
    assert np.array_equal(
        load(tmp_path / "second").encode(SENTENCES), load(tmp_path / "first").encode(SENTENCES)
    )


@pytest.mark.rest
@pytest.mark.slow
def test_the_module_file_runs_without_this_package(tmp_path):
    built = examples.random_model(["trigram"], "add")
    save(tmp_path, built)
    code = (
        "import sys; from sentence_transformers import SentenceTransformer\n"
        f"model = SentenceTransformer({str(tmp_path)!r}, device='cpu', trust_remote_code=True,"
        " local_files_only=True)\n"
        "print(*model.encode('The dog sleeps.').tolist())\n"
        "assert not [name for name in sys.modules if name.startswith('workflow_scripts')]"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    found = [float(number) for number in done.stdout.split()]
    expected = load(tmp_path).encode(["The dog sleeps."])[0]
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_untrained_weights_are_loaded_on_request(tmp_path):
    built = examples.random_model(["word"], "add")
    save(tmp_path, built)
    before = load(tmp_path).encode(SENTENCES)
    built.network.tables[0].data.mul_(2)
    parts.write_weights(tmp_path / UNTRAINED, built)
    assert np.array_equal(load(tmp_path).encode(SENTENCES), before)
    assert np.array_equal(load(tmp_path, untrained=True).encode(SENTENCES), 2 * before)


def test_a_folder_that_is_none_is_named(tmp_path):
    with pytest.raises(InputError, match="no model folder"):
        load(tmp_path / "absent")


CONFIGS = ["[]", "1", "[" * 100_000, '{"encoders": 1, "tokens": 2}', "NaN", '"\\ud800"']
CONFIGS.append('{"encoders": ["word"]}')


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        *((parts.CONFIG, lambda _, text=text: text.encode()) for text in CONFIGS),
        (parts.WEIGHTS, lambda _: b""),
        (parts.WEIGHTS, lambda whole: whole[:-1]),
        (parts.WEIGHTS, lambda whole: whole[:100]),
        (parts.WEIGHTS, lambda whole: b"\xff" * 8 + whole[8:]),
    ],
)
def test_a_damaged_folder_is_named(tmp_path, name, damage):
    save(tmp_path, examples.random_model(["word"], "add"))
    (tmp_path / name).write_bytes(damage((tmp_path / name).read_bytes()))
    with pytest.raises(InputError, match="no model folder"):
        load(tmp_path)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("everywhere", [True, False])
def test_weights_without_a_value_are_refused(tmp_path, value, everywhere):
    built = examples.random_model(["word"], "add")
    save(tmp_path, built)
    weights = built.network.tables[0].data
    weights[slice(None) if everywhere else 3] = value
    for name, untrained in ((parts.WEIGHTS, False), (UNTRAINED, True)):
        parts.write_weights(tmp_path / name, built)
        with pytest.raises(InputError, match=f"{name}: parameter 'tables.0' holds NaN"):
            load(tmp_path, untrained)


@pytest.mark.parametrize("changed", [{"hidden": 10**7}, {"dimension": 10**9}, {"hidden": 10**30}])
@pytest.mark.parametrize("encoder", ["word", "blstm", "gran"])
def test_sizes_that_the_weights_have_not_take_no_memory(tmp_path, monkeypatch, encoder, changed):
    save(tmp_path, examples.random_model([encoder], "add"))
    config = json.loads((tmp_path / parts.CONFIG).read_text("utf-8"))
    (tmp_path / parts.CONFIG).write_text(json.dumps(config | changed), encoding="utf-8")
    if encoder == "word" and "hidden" in changed:
        assert load(tmp_path).encode(SENTENCES).any()  # nothing of it has this size
        return
    made = []
    monkeypatch.setattr(parts, "read", lambda *asked: made.append(asked))
    with pytest.raises(InputError, match="no model folder"):
        load(tmp_path)
    assert not made


@pytest.mark.parametrize(
    ("chosen", "changed", "message"),
    [
        (["blstm"], {"hidden": 3}, "hidden is odd"),
        (["word", "trigram"], {"combine": "sum"}, "combine is 'sum'"),
        (["word", "blstm"], {"combine": "add"}, "different sizes can't be added"),
    ],
)
def test_configs_that_no_vector_can_come_of_are_refused(tmp_path, chosen, changed, message):
    built = examples.random_model(chosen, "concatenate", size=2)
    if "word" in chosen and "blstm" in chosen:
        config = {**built.config, "hidden": 4}
        network = parts.empty_network(config, built.tokenisers)
        built = built._replace(config=config, network=network)
    save(tmp_path, built)
    config = json.loads((tmp_path / parts.CONFIG).read_text("utf-8"))
    (tmp_path / parts.CONFIG).write_text(json.dumps(config | changed), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        load(tmp_path)


def test_cosines_are_those_of_the_rows_and_0_for_zeros():
    torch.manual_seed(1)
    one, other = torch.randn(5, 4), torch.randn(5, 4)
    expected = torch.nn.functional.cosine_similarity(one.double(), other.double())
    np.testing.assert_allclose(cosines(one.numpy(), other.numpy()), expected)
    assert cosines(np.zeros((1, 3), np.float32), np.ones((1, 3), np.float32)) == [0.0]


def test_similarities_are_between_the_two_of_a_pair():
    embeddings = SentenceEmbeddings(examples.random_model(["word"], "add"))
    found = similarities(embeddings, [(SENTENCES[0], SENTENCES[1]), (SENTENCES[0], "")])
    assert found == pytest.approx([1.0, 0.0])
