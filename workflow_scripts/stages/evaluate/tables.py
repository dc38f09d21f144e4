"""The stage's tables in the release: a row for each set of figures."""

from collections.abc import Iterator
from typing import Any

from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.core.report.table import Table
from workflow_scripts.stages.evaluate.diversity import mean
from workflow_scripts.stages.evaluate.length_table import per_reference
from workflow_scripts.stages.evaluate.results import (
    all_answers,
    all_bounds,
    all_measures,
    all_ratings,
    all_rewriting,
    all_statistics,
    all_variants,
    mean_modified_bleu,
    rating_rows,
)


def _groups(measures: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for system, each in measures.items():
        for name, group in each["groups"].items():
            yield system, name, group


def _overlaps(comparison: dict[str, Any]) -> tuple[Any, ...]:
    words, pieces = (comparison.get(bag, {}) for bag in ("words", "pieces"))
    return (
        words.get("intersection_over_union"),
        pieces.get("intersection_over_union"),
        words.get("length_ratio"),
    )


def _ends(interval: dict[str, float] | None) -> tuple[Any, Any]:
    return (interval["low"], interval["high"]) if interval else (None, None)


def diversity(run: FinishedRun) -> Table:
    """Return every rank against the references (ParaBank 2, Table 1)."""
    columns = (
        *("system", "references", "rank", "one_minus_bleu", "low", "high"),
        *("intersection_over_union", "intersection_over_union_pieces", "length_ratio"),
        *("tree_edit_distance", "tree_low", "tree_high"),
        *("mean_sum", "listed", "repeated", "copies"),
    )
    rows = []
    for system, name, group in _groups(all_measures(run)):
        for number, rank in enumerate(group["ranks"]):
            tree = group["syntax"]["ranks"][number] if group["syntax"] else {}
            rows.append(
                (
                    *(system, name, rank["rank"], rank["one_minus_bleu"]),
                    *_ends(rank["interval"]),
                    *_overlaps(rank),
                    *(tree.get("tree_edit_distance"), *_ends(tree.get("interval"))),
                    *(rank["mean_sum"], rank["listed"], rank["repeated"], rank["copies"]),
                )
            )
    return Table(columns, rows)


def between_ranks(run: FinishedRun) -> Table:
    """Return every two ranks against each other (ParaBank 2, Table 2)."""
    columns = (
        *("system", "references", "first", "second", "pairs", "one_minus_bleu"),
        *("intersection_over_union", "intersection_over_union_pieces", "length_ratio"),
        "tree_edit_distance",
    )
    rows = []
    for system, name, group in _groups(all_measures(run)):
        for number, pair in enumerate(group["between"]):
            tree = group["syntax"]["between"][number] if group["syntax"] else {}
            rows.append(
                (
                    *(system, name, pair["first"], pair["second"], pair["pairs"]),
                    *(pair["one_minus_bleu"], *_overlaps(pair), tree.get("tree_edit_distance")),
                )
            )
    return Table(columns, rows)


def lengths(run: FinishedRun) -> Table:
    """Return every rank by the length of the reference (ParaBank, Table 4)."""
    columns = (
        *("system", "references", "from", "to", "number", "paraphrases_per_reference", "rank"),
        *("listed", "repeated", "one_minus_bleu"),
        *("intersection_over_union", "intersection_over_union_pieces", "length_ratio"),
    )
    rows = [
        (
            *(system, name, part["from"], part["to"], part["references"], per_reference(part)),
            *(rank["rank"], rank["listed"], rank["repeated"], rank["one_minus_bleu"]),
            *_overlaps(rank),
        )
        for system, name, group in _groups(all_measures(run))
        for part in group["by_length"]
        for rank in part["ranks"]
    ]
    return Table(columns, rows)


_EXACT = (
    *("modified_bleu", "one_minus_bleu"),
    *("intersection_over_union", "intersection_over_union_pieces", "length_ratio"),
)


def exact_lengths(run: FinishedRun) -> Table:
    """Return every rank by the exact length of the reference in tokens (ParaBank, Table 4)."""
    columns = ("system", "references", "length", "number", "rank", "listed", "drawn", *_EXACT)
    rows = [
        (
            *(system, name, part["length"], part["references"], rank["rank"], rank["listed"]),
            *(part["drawn"], rank["modified_bleu"], rank["one_minus_bleu"], *_overlaps(rank)),
        )
        for system, name, group in _groups(all_measures(run))
        for part in group["exact_lengths"]
        for rank in part["ranks"]
    ]
    return Table(columns, rows)


def variants(run: FinishedRun) -> Table:
    """Return every variant of every system: ParaBank's systems, as the paper calls them.

    `shared` names the variants with the same outputs, each with how many.
    """
    columns = (
        *("system", "references", "variant", "number", "outputs", "alone", "copies"),
        *("one_minus_bleu", "low", "high"),
        *("intersection_over_union", "intersection_over_union_pieces", "length_ratio", "mean_sum"),
        *("modified_bleu", "exact", "shared"),
    )
    rows = [
        (
            *(system, group, name, each["references"], each["outputs"], each["alone"]),
            *(each["copies"], each["one_minus_bleu"], *_ends(each["interval"])),
            *(*_overlaps(each), each["mean_sum"], mean_modified_bleu(each["exact_lengths"])),
            (each["testbed"] or {}).get("share"),
            " ".join(f"{other}:{count}" for other, count in each["shared"].items()),
        )
        for system, found in all_variants(run).items()
        for group, variants in found["groups"].items()
        for name, each in variants.items()
    ]
    return Table(columns, rows)


def variant_lengths(run: FinishedRun) -> Table:
    """Return every variant by the length of the reference (ParaBank, Table 4).

    A row is of a range of words, `from` and `to`, or of references of exactly `tokens` tokens; only
    the latter have a modified BLEU, of `drawn` pairs.
    """
    columns = (
        *("system", "references", "variant", "from", "to", "tokens", "outputs", "drawn"),
        *_EXACT,
    )
    rows = [
        (
            *(system, group, name, part.get("from"), part.get("to"), part.get("length")),
            *(part["outputs"], part.get("drawn"), part.get("modified_bleu")),
            *(part["one_minus_bleu"], *_overlaps(part)),
        )
        for system, found in all_variants(run).items()
        for group, variants in found["groups"].items()
        for name, each in variants.items()
        for part in [*each["by_length"], *each["exact_lengths"]]
    ]
    return Table(columns, rows)


def rewriting(run: FinishedRun) -> Table:
    """Return systems that a rewriter writes beside those of the forward model (ParaBank, Table 6).

    A row is of all references, of those of exactly `tokens` tokens, or, with `lengths`, of so many
    such lengths: then similarity and modified BLEU are means over these, with their deviations.
    """
    columns = (
        *("bilingual", "monolingual", "variant", "side", "tokens", "lengths", "outputs"),
        *("similarity", "similarity_deviation", "modified_bleu", "modified_bleu_deviation"),
        *("copies", "exact"),
    )
    rows = []
    for system, found in all_rewriting(run).items():
        for other, pair in found["bilingual"].items():
            for name, sides in pair["variants"].items():
                for side in ("bilingual", "monolingual"):
                    figures = sides[side]
                    key = (other, system, name, side)
                    over = figures["over_lengths"]
                    whole = (figures["copies"], figures["exact"])
                    rows.append((*key, None, None, *_similar(figures), *whole))
                    rows += [
                        (*key, part["length"], None, *_similar(part), None, None)
                        for part in figures["exact_lengths"]
                    ]
                    means = (over[each] for each in ("similarity", "modified_bleu"))
                    spread = [each[figure] for each in means for figure in ("mean", "deviation")]
                    rows.append((*key, None, over["lengths"], None, *spread, None, None))
    return Table(columns, rows)


def _similar(figures: dict[str, Any]) -> tuple[Any, ...]:
    similarity = figures["similarity"]
    means = (similarity["mean"], similarity["deviation"])
    return (figures["outputs"], *means, figures["modified_bleu"], None)


def rewritten(run: FinishedRun) -> Table:
    """Return the paraphrases of chosen references by a rewriter (ParaBank, Table 7)."""
    rows = [
        (system, each["reference"], text)
        for system, found in all_rewriting(run).items()
        for each in found["examples"]
        for text in each["paraphrases"]
    ]
    return Table(("system", "reference", "paraphrase"), rows)


def statistics(run: FinishedRun) -> Table:
    """Return the corpus statistics (ParaNMT-50M, Table 1; Wieting et al. 2017, 9 and 10).

    A figure is named by its place in statistics.json; only means over sentences have a deviation
    and a count.
    """
    parts = ("sides", "difference", "columns", "correlations")
    rows = [
        (system, *figure)
        for system, each in all_statistics(run).items()
        for part in parts
        for figure in _figures(each[part], part)
    ]
    return Table(("system", "figure", "value", "deviation", "count"), rows)


def _figures(value: Any, name: str) -> Iterator[tuple[Any, ...]]:
    if not isinstance(value, dict):
        yield name, value, None, None
    elif "mean" in value:
        yield name, value["mean"], value["deviation"], value["count"]
    else:
        for key, each in value.items():
            yield from _figures(each, f"{name}.{key}")


def bins(run: FinishedRun) -> Table:
    """Return pairs and trigram overlap by bins of a paraphrase score (ParaNMT-50M, Table 3)."""
    rows = [
        (system, column, part["to"], part["count"], part["mean"], part["deviation"])
        for system, each in all_statistics(run).items()
        for column, parts in each["bins"].items()
        for part in parts
    ]
    return Table(("system", "column", "up_to", "pairs", "overlap_3", "deviation"), rows)


def classifiers(run: FinishedRun) -> Table:
    """Return how well classifiers tell references from paraphrases (BT17, Table 8)."""
    columns = ("data", "pairs", "accuracy", "references", "paraphrases", "negatives", "l2")
    rows = [
        (system, name, *(each[column] for column in columns))
        for system, found in all_statistics(run).items()
        for name, each in found["classifiers"].items()
    ]
    return Table(("system", "column", *columns), rows)


def bounds(run: FinishedRun) -> Table:
    """Return what each bound on the sum of both NLLs would keep of the sampled candidates.

    `quantile` is the share of all references that do not exceed the bound themselves, where the
    bound is such a quantile.
    """
    columns = ("system", "quantile", "max_sum", "kept", "share", "references", "one_minus_bleu")
    rows = []
    for system, each in all_bounds(run).items():
        own = {part["max_sum"]: part["quantile"] for part in each["own"]["all"]["quantiles"]}
        for bound in each["bounds"]:
            share = mean(100.0 * bound["kept"], each["candidates"])
            rows.append(
                (
                    *(system, own.get(bound["max_sum"]), bound["max_sum"], bound["kept"], share),
                    *(bound["references"], bound["one_minus_bleu"]),
                )
            )
    return Table(columns, rows)


def answers(run: FinishedRun) -> Table:
    """Return how many paraphrases are right answers: a row for all ranks, and one for each."""
    names = ("precision", "weighted_recall", "weighted_macro_f1", "distinct_right")
    rows: list[tuple[Any, ...]] = []
    for system, each in all_answers(run).items():
        counts = (each["prompts"], each["found"])
        by_rank = each["by_rank"].items()
        total = [sum(found[name] for _, found in by_rank) for name in ("right", "paraphrases")]
        rows.append((system, *counts, None, *total, *(each[name] for name in names)))
        for rank, found in by_rank:
            own = (int(rank), found["right"], found["paraphrases"])
            rows.append((system, *counts, *own, found["share"], None, None, None))
    return Table(("system", "prompts", "found", "rank", "right", "paraphrases", *names), rows)


def ratings(run: FinishedRun) -> Table:
    """Return what people say of all pairs, of every rank and of the oracle systems.

    As ParaBank 2, Table 1.
    """
    columns = (
        *("system", "row", "references", "pairs", "rated"),
        *("similarity", "similarity_low", "similarity_high"),
        *("grammatical", "grammatical_low", "grammatical_high"),
        *("one_minus_bleu", "intersection_over_union", "length_ratio"),
    )
    rows = [
        (
            *(system, name, each["references"], row["pairs"], row["rated"]),
            *(row["similarity"], *_ends(row["interval"]["similarity"])),
            *(row["grammatical"], *_ends(row["interval"]["grammatical"])),
            *(row["one_minus_bleu"], row.get("intersection_over_union"), row.get("length_ratio")),
        )
        for system, each in all_ratings(run).items()
        for name, row in rating_rows(each["figures"])
    ]
    return Table(columns, rows)


def ratings_by_length(run: FinishedRun) -> Table:
    """Return what people say of all pairs by the length of the reference (ParaBank, Table 4)."""
    columns = ("system", "from", "to", "pairs", "rated", "similarity", "grammatical")
    rows = [
        (system, *(part[column] for column in columns[1:]))
        for system, each in all_ratings(run).items()
        for part in (each["figures"] or {"by_length": []})["by_length"]
    ]
    return Table(columns, rows)


def variant_ratings(run: FinishedRun) -> Table:
    """Return what people say of every variant (ParaBank, Tables 4 and 5).

    A row is of all references, or of those of exactly `tokens` tokens, which have no interval.
    """
    columns = (
        *("system", "variant", "tokens", "pairs", "rated"),
        *("similarity", "similarity_low", "similarity_high"),
        *("grammatical", "grammatical_low", "grammatical_high"),
    )
    rows = []
    for system, each in all_ratings(run).items():
        for name, figures in each.get("variants", {}).items():
            for part in [figures, *figures["exact_lengths"]]:
                interval = part.get("interval", {})
                rows.append(
                    (
                        *(system, name, part.get("length"), part["pairs"], part["rated"]),
                        *(part["similarity"], *_ends(interval.get("similarity"))),
                        *(part["grammatical"], *_ends(interval.get("grammatical"))),
                    )
                )
    return Table(columns, rows)
