from workflow_scripts.stages.evaluate.length_table import heading, length_table, per_reference


def part(start, end, counts, *bleu):
    ranks = [
        {"rank": rank, "one_minus_bleu": value, "words": {"intersection_over_union": value / 2}}
        if value is not None
        else {"rank": rank, "one_minus_bleu": None}
        for rank, value in enumerate(bleu, start=1)
    ]
    return {
        **{"from": start, "to": end, "references": sum(counts), "ranks": ranks},
        "references_by_paraphrases": counts,
    }


def measures(best, *parts):
    return {"config": {"best": best}, "groups": {"all": {"by_length": list(parts)}}}


def test_ranges_are_named_by_their_ends_and_have_paraphrases_per_reference():
    spans = ((0, 5), (6, 10), (41, None))
    assert [heading(part(*ends, [1])) for ends in spans] == ["0 to 5", "6 to 10", "over 40"]
    assert per_reference(part(0, 5, [1, 0, 3])) == 1.5
    assert per_reference(part(0, 5, [0, 0])) is None


def test_a_row_for_each_system_and_a_column_for_each_range():
    table = length_table(
        {
            "two": measures(
                2, part(0, 5, [1, 0, 3], 40.0, 60.0), part(6, None, [0] * 3, *[None] * 2)
            ),
            "one": measures(1, part(0, 5, [0, 4], 30.0), part(6, None, [0, 0], None)),
        }
    )
    assert table["headings"] == ["0 to 5", "over 5"]
    rows = {each["label"]: dict(each["rows"]) for each in table["measures"]}
    assert rows == {
        "references": {"two": [4, 0], "one": [4, 0]},
        "paraphrases per reference": {"two": [1.5, None], "one": [1.0, None]},
        "1−BLEU, rank 1": {"two": [40.0, None], "one": [30.0, None]},
        "1−BLEU, last rank": {"two": [60.0, None]},
        "∩/∪ of words, rank 1": {"two": [20.0, None], "one": [15.0, None]},
        "∩/∪ of words, last rank": {"two": [30.0, None]},
    }


def test_systems_of_one_paraphrase_have_no_last_rank():
    table = length_table({"one": measures(1, part(0, None, [0, 4], 30.0))})
    assert [each["label"] for each in table["measures"]] == [
        *("references", "paraphrases per reference", "1−BLEU, rank 1", "∩/∪ of words, rank 1")
    ]


def test_exact_lengths_have_the_modified_bleu():
    def exact(length, counts, *bleu):
        ranks = [{"rank": rank, "modified_bleu": each} for rank, each in enumerate(bleu, start=1)]
        return {
            **{"length": length, "references": sum(counts), "drawn": 2, "ranks": ranks},
            "references_by_paraphrases": counts,
        }

    found = measures(2)
    found["groups"]["all"]["exact_lengths"] = [exact(5, [0, 1, 1], 30.0, 20.0)]
    table = length_table({"two": found}, exact=True)
    assert table["headings"] == ["exactly 5"]
    assert {each["label"]: dict(each["rows"])["two"] for each in table["measures"]} == {
        **{"references": [2], "paraphrases per reference": [1.5], "drawn": [2]},
        **{"modified BLEU, rank 1": [30.0], "modified BLEU, last rank": [20.0]},
    }
