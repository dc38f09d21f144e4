from workflow_scripts.evaluate.quality import Quality


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
