from workflow_scripts.stages.evaluate.quality import Quality
from workflow_scripts.testbed.checker import Checker
from workflow_scripts.testbed.generate import items


class LetterChecker:
    """Sentences mean the same when they have the same first letter."""

    def same_meaning(self, reference, sentence):
        return reference[:1].lower() == sentence[:1].lower()

    def variations(self, reference, sentence):
        return {"longer"} if len(sentence) > len(reference) else {"shorter"}


def counted(*lists):
    quality = Quality(best=3)
    for reference, *paraphrases in lists:
        quality.add(LetterChecker(), reference, paraphrases)
    return quality


LISTS = [
    ("aa b", "ab", "xx", "A, b?"),  # right, wrong, right
    ("cc d", "cc D!", "c", "C"),  # a copy, right, the same again
    ("ee", "yy"),
    ("ff",),
]


def test_by_hand():
    result = counted(*LISTS).result()
    assert result["references"] == 4
    assert result["ranks"] == [
        {"rank": 1, "listed": 3, "exact": 2, "share": 66.666667},
        {"rank": 2, "listed": 2, "exact": 1, "share": 50.0},
        {"rank": 3, "listed": 2, "exact": 2, "share": 100.0},
    ]
    assert result["references_by_distinct_correct"] == [2, 1, 1, 0]
    assert result["distinct_correct"] == 0.75
    assert result["variations"] == {"shorter": 2, "longer": 1}


def test_without_references():
    assert Quality(best=2).result() is None


def test_merge_adds():
    merged = counted(*LISTS[:2])
    merged.merge(counted(*LISTS[2:]))
    assert merged.result() == counted(*LISTS).result()


def test_with_the_testbed():
    # Three realisations of one meaning: the others mean the same, those of the next do not.
    pairs = [pair.reference for pair in items(seed=1, first=0, count=20, realisations=3)]
    quality = Quality(best=3)
    for start in range(0, len(pairs) - 3, 3):
        one, *others = pairs[start : start + 3]
        quality.add(Checker(), one, [*others, pairs[start + 3]])
    result = quality.result()
    assert [rank["share"] for rank in result["ranks"]] == [100.0, 100.0, 0.0]
    assert 1.5 < result["distinct_correct"] <= 2.0  # two realisations are rarely the same
    assert result["variations"]["synonym"] > 5
