from workflow_scripts.plan.catalogues.embeddings import embeddings
from workflow_scripts.plan.schema import defaults

MODEL, TRAINING = defaults("embedding_model"), defaults("embedding_training")


def config(**entries):
    return {"run": {"embeddings": list(entries)}, "embeddings": {**entries, "unused": {}}}


def test_what_an_entry_does_not_say_is_as_in_the_papers():
    block = {"model": {"dimension": 50}, "training": {"anneal": None}}
    (found,) = embeddings(config(small=block), ["all-one"]).values()
    assert found["model"] == MODEL | {"dimension": 50}
    assert found["training"] == TRAINING | {"anneal": None}
    assert (TRAINING["margin"], TRAINING["batch"], TRAINING["mega_batch"]) == (0.4, 100, 40)
    assert (TRAINING["learning_rate"], TRAINING["scramble"]) == (0.001, 0.3)
