"""Figures of references of exactly 5, 10, 20 and 40 tokens."""

from tests.unit.evaluate.test_measures import measured, row
from workflow_scripts.stages.evaluate.diversity import diversity
from workflow_scripts.stages.evaluate.exact_lengths import LENGTHS, PAIRS, ExactLength
from workflow_scripts.stages.evaluate.modified_bleu import modified_bleu

FIVE = "the old man sees a"


def test_only_references_of_these_lengths_count(segmenter):
    rows = [
        row("train", "The old man , too", "the old man , too !", number=1),  # a comma is a token
        row("train", f"{FIVE} dog", "a dog", number=2),
        row("held", " ".join("abcdefghij"), " ".join("abcdefghix"), " ".join("xbcdefghij")),
        row("held", "a b c d e", number=3),
    ]
    found = measured(segmenter, rows=rows, best=2)["all"]["exact_lengths"]
    assert [each["length"] for each in found] == [*LENGTHS] == [5, 10, 20, 40]
    five, ten, *others = found
    assert (five["references"], five["drawn"]) == (2, 1)
    assert five["references_by_paraphrases"] == [1, 1, 0]
    pair = ("The old man , too", "the old man , too !")
    assert five["ranks"][0]["modified_bleu"] == modified_bleu([pair])
    assert five["ranks"][0]["one_minus_bleu"] == diversity([pair])["one_minus_bleu"]
    assert (five["ranks"][1]["listed"], five["ranks"][1]["repeated"]) == (0, 1)
    assert ten["ranks"][1]["modified_bleu"] == modified_bleu(
        [(" ".join("abcdefghij"), " ".join("xbcdefghij"))]
    )
    assert {each["references"] for each in others} == {0}
    assert {rank["modified_bleu"] for each in others for rank in each["ranks"]} == {None}


def test_the_sample_is_the_same_in_any_order_and_however_it_is_split():
    names = [f"c:{number}" for number in range(3 * PAIRS)]

    def sample(identifiers):
        found = ExactLength(1)
        for name in identifiers:
            found.draw(name, f"{name} a b c d", [f"{name} a b x d"])
        return found

    one, backwards, first = sample(names), sample(names[::-1]), sample(names[:170])
    first.merge(sample(names[170:]))
    results = [each.result(5) for each in (one, backwards, first)]
    assert results[0] == results[1] == results[2]
    assert results[0]["drawn"] == PAIRS
    assert sample(names[:7]).result(5)["drawn"] == 7
