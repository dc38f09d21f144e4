from workflow_scripts.plan.catalogues.embeddings import embeddings
from workflow_scripts.plan.schema import defaults

MODEL, TRAINING = defaults("embedding_model"), defaults("embedding_training")

SETS = ["all-one", "all-two", "fine-one-1-2"]


def config(**entries):
    return {"run": {"embeddings": list(entries)}, "embeddings": {**entries, "unused": {}}}


def test_an_entry_is_trained_on_all_sets_or_on_those_that_it_names():
    found = embeddings(config(word={}, lstm={"training_sets": ["fine"]}), SETS)
    assert list(found) == [
        *("word-all-one-seed1", "word-all-two-seed1", "word-fine-one-1-2-seed1"),
        "lstm-fine-one-1-2-seed1",
    ]
    assert found["lstm-fine-one-1-2-seed1"]["training_set"] == "fine-one-1-2"


def test_each_seed_is_an_embedding_of_its_own():
    found = embeddings(config(word={"seeds": [3, 5]}), SETS[:1])
    assert {name: each["repetition"] for name, each in found.items()} == {
        "word-all-one-seed3": 3,
        "word-all-one-seed5": 5,
    }


def test_what_an_entry_does_not_say_is_as_in_the_papers():
    block = {"model": {"dimension": 50}, "training": {"anneal": None}}
    (found,) = embeddings(config(small=block), SETS[:1]).values()
    assert found["model"] == MODEL | {"dimension": 50}
    assert found["training"] == TRAINING | {"anneal": None}
    assert (TRAINING["margin"], TRAINING["batch"], TRAINING["mega_batch"]) == (0.4, 100, 40)
    assert (TRAINING["learning_rate"], TRAINING["scramble"]) == (0.001, 0.3)
