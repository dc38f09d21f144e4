"""What the folder of a rewriter says of it."""

from workflow_scripts.stages.rewrite.about import about


def test_counts_of_all_shards_stand_beside_the_facts():
    pairs = ({"train": 5, "dev": 1}, {"train": 7, "test": 2})
    references = ({"train": 2, "dev": 1}, {"train": 3, "test": 1})
    parts = {
        f"000{shard}": {"extra": {"pairs": pairs[shard], "references": references[shard]}}
        for shard in (0, 1)
    }
    manifest = {"parts": parts, "rejected": {"identical": 4, "duplicate": 0}}
    assert about({"name": "plain", "write": ["paraphrase"]}, manifest) == {
        "name": "plain",
        "write": ["paraphrase"],
        "pairs": {"train": 12, "dev": 1, "test": 2},
        "references": {"train": 5, "dev": 1, "test": 1},
        "left_out": {"identical": 4},
    }
