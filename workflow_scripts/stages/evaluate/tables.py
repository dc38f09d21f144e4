"""The stage's tables in the release: a row for each set of figures."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.core.report.table import Record, Table
from workflow_scripts.stages.evaluate.diversity import mean
from workflow_scripts.stages.evaluate.length_table import per_reference
from workflow_scripts.stages.evaluate.results import all_measures, mean_modified_bleu, rating_rows

_OVERLAPS = (
    "intersection_over_union=words?.intersection_over_union? "
    "intersection_over_union_pieces=pieces?.intersection_over_union? "
    "length_ratio=words?.length_ratio?"
)
_BLEU = "one_minus_bleu low=interval.low high=interval.high"
_TREES = "tree_edit_distance=tree.tree_edit_distance"
_PEOPLE = " ".join(
    f"{name} {name}_low=interval?.{name}?.low {name}_high=interval?.{name}?.high"
    for name in ("similarity", "grammatical")
)


def _groups(run: FinishedRun) -> Iterator[tuple[Record, dict[str, Any]]]:
    """Yield each group of measures with the system and the name of the group."""
    for system, figures in all_measures(run).items():
        for name, group in figures["groups"].items():
            yield {"system": system, "references": name}, group


def _with_trees(group: dict[str, Any], part: str) -> Iterator[Record]:
    """Yield the `ranks` of a group, or what is `between` them, each with its `tree` figures."""
    trees = group["syntax"][part] if group["syntax"] else [None] * len(group[part])
    for rank_or_pair, tree in zip(group[part], trees, strict=True):
        yield {**rank_or_pair, "tree": tree}


def diversity(run: FinishedRun) -> Table:
    """Return every rank against the references (ParaBank 2, Table 1)."""
    ranks = ({**rank, **of} for of, group in _groups(run) for rank in _with_trees(group, "ranks"))
    columns = (
        f"system references rank {_BLEU} {_OVERLAPS} {_TREES} tree_low=tree.interval.low "
        "tree_high=tree.interval.high mean_sum listed repeated copies"
    )
    return Table(columns, ranks)


def between_ranks(run: FinishedRun) -> Table:
    """Return every two ranks against each other (ParaBank 2, Table 2)."""
    pairs = ({**pair, **of} for of, group in _groups(run) for pair in _with_trees(group, "between"))
    columns = f"system references first second pairs one_minus_bleu {_OVERLAPS} {_TREES}"
    return Table(columns, pairs)


def _by_length(run: FinishedRun, lengths: str) -> Iterator[Record]:
    for of, group in _groups(run):
        for part in group[lengths]:
            of_part = {"number": part["references"], "paraphrases": per_reference(part)}
            yield from ({**part, **of_part, **of, **rank} for rank in part["ranks"])


def lengths(run: FinishedRun) -> Table:
    """Return every rank by the length of the reference (ParaBank, Table 4)."""
    columns = (
        "system references from to number paraphrases_per_reference=paraphrases rank listed "
        f"repeated one_minus_bleu {_OVERLAPS}"
    )
    return Table(columns, _by_length(run, "by_length"))


def exact_lengths(run: FinishedRun) -> Table:
    """Return every rank by the exact length of the reference in tokens (ParaBank, Table 4)."""
    columns = (
        "system references length number rank listed drawn modified_bleu one_minus_bleu "
        f"{_OVERLAPS}"
    )
    return Table(columns, _by_length(run, "exact_lengths"))


def _variants(run: FinishedRun) -> Iterator[tuple[Record, dict[str, Any]]]:
    """Yield the figures of each variant with the names of system, group and variant."""
    for system, figures in all_measures(run, "variants").items():
        for group, variants in figures["groups"].items():
            for name, variant in variants.items():
                yield {"system": system, "references": group, "variant": name}, variant


def variants(run: FinishedRun) -> Table:
    """Return every variant of every system: ParaBank's systems, as the paper calls them.

    `shared` names the variants with the same outputs, each with how many.
    """
    rows = [
        {
            **variant,
            "number": variant["references"],
            "modified_bleu": mean_modified_bleu(variant["exact_lengths"]),
            "exact": (variant["testbed"] or {}).get("share"),
            "shared": " ".join(f"{other}:{count}" for other, count in variant["shared"].items()),
            "most_shared": ", ".join(f"{other} {count:,}" for other, count in most_shared(variant)),
            **of,
        }
        for of, variant in _variants(run)
    ]
    columns = (
        f"system references variant number outputs alone copies {_BLEU} {_OVERLAPS} mean_sum "
        "modified_bleu exact shared"
    )
    return Table(columns, rows)


def variant_pairs(run: FinishedRun) -> Table:
    """Return variants against each other (ParaBank 2, Table 2), with how many pairs have `trees`.

    Runs of an earlier version have none.
    """
    rows = [
        {**figures, **of, "first": of["variant"], "second": other}
        for of, variant in _variants(run)
        for other, figures in variant.get("against", {}).items()
    ]
    columns = (
        f"system references first second pairs one_minus_bleu {_OVERLAPS} trees tree_edit_distance"
    )
    return Table(columns, rows)


def most_shared(variant: dict[str, Any]) -> list[tuple[str, int]]:
    """Return the five variants with the most outputs in common with one."""
    return Counter(variant["shared"]).most_common(5)


def variant_lengths(run: FinishedRun) -> Table:
    """Return every variant by the length of the reference (ParaBank, Table 4).

    A row is of a range of words, `from` and `to`, or of references of exactly `tokens` tokens; only
    the latter have a modified BLEU, of `drawn` pairs.
    """
    rows = [
        {**part, **of}
        for of, variant in _variants(run)
        for part in [*variant["by_length"], *variant["exact_lengths"]]
    ]
    columns = (
        "system references variant from? to? tokens=length? outputs drawn? modified_bleu? "
        f"one_minus_bleu {_OVERLAPS}"
    )
    return Table(columns, rows)


def rewriting(run: FinishedRun) -> Table:
    """Return systems that a rewriter writes beside those of the forward model (ParaBank, Table 6).

    A row is of all references, of those of exactly `tokens` tokens, or, with `lengths`, of so many
    such lengths: then similarity and modified BLEU are means over these, with their deviations.
    """
    columns = (
        "bilingual monolingual variant side tokens=length? lengths? outputs? "
        "similarity=similarity.mean similarity_deviation=similarity.deviation "
        "modified_bleu=modified_bleu.mean modified_bleu_deviation=modified_bleu.deviation "
        "copies? exact?"
    )
    return Table(columns, _rewriting(run))


def _rewriting(run: FinishedRun) -> Iterator[Record]:
    for system, figures in all_measures(run, "rewriting").items():
        for other, pair in figures["bilingual"].items():
            for name, sides in pair["variants"].items():
                for side in ("bilingual", "monolingual"):
                    of = {"bilingual": other, "monolingual": system, "variant": name, "side": side}
                    whole = sides[side]
                    for part in [whole, *whole["exact_lengths"]]:
                        modified = {"mean": part["modified_bleu"], "deviation": None}
                        yield {**part, "modified_bleu": modified, **of}
                    yield {**whole["over_lengths"], **of}


def rewritten(run: FinishedRun) -> Table:
    """Return the paraphrases of chosen references by a rewriter (ParaBank, Table 7)."""
    rows = [
        {"system": system, "reference": example["reference"], "paraphrase": paraphrase}
        for system, figures in all_measures(run, "rewriting").items()
        for example in figures["examples"]
        for paraphrase in example["paraphrases"]
    ]
    return Table("system reference paraphrase", rows)


def statistics(run: FinishedRun) -> Table:
    """Return the corpus statistics (ParaNMT-50M, Table 1; Wieting et al. 2017, 9 and 10).

    A figure is named by its place in statistics.json; only means over sentences have a deviation
    and a count.
    """
    rows = [
        {"system": system, **figure}
        for system, figures in all_measures(run, "statistics").items()
        for part in ("sides", "difference", "columns", "correlations")
        for figure in _leaves(figures[part], part)
    ]
    return Table("system figure value deviation? count?", rows)


def _leaves(value: Any, name: str) -> Iterator[Record]:
    if not isinstance(value, dict):
        yield {"figure": name, "value": value}
    elif "mean" in value:
        yield {"figure": name, "value": value["mean"], **value}
    else:
        for key, inner in value.items():
            yield from _leaves(inner, f"{name}.{key}")


def bins(run: FinishedRun) -> Table:
    """Return pairs and trigram overlap by bins of a paraphrase score (ParaNMT-50M, Table 3)."""
    rows = [
        {"system": system, "column": column, **part}
        for system, figures in all_measures(run, "statistics").items()
        for column, parts in figures["bins"].items()
        for part in parts
    ]
    columns = "system column up_to=to pairs=count overlap_3=mean deviation"
    return Table(columns, rows)


def classifiers(run: FinishedRun) -> Table:
    """Return how well classifiers tell references from paraphrases (BT17, Table 8)."""
    rows = [
        {"system": system, "column": name, **accuracies}
        for system, figures in all_measures(run, "statistics").items()
        for name, accuracies in figures["classifiers"].items()
    ]
    columns = "system column data pairs accuracy references paraphrases negatives l2"
    return Table(columns, rows)


def bounds(run: FinishedRun) -> Table:
    """Return what each bound on the sum of both NLLs would keep of the sampled candidates.

    `quantile` is the share of all references that do not exceed the bound themselves, where the
    bound is such a quantile.
    """
    rows: list[Record] = []
    for system, figures in all_measures(run, "bounds").items():
        own = {part["max_sum"]: part["quantile"] for part in figures["own"]["all"]["quantiles"]}
        for bound in figures["bounds"]:
            share = mean(100.0 * bound["kept"], figures["candidates"])
            quantile = own.get(bound["max_sum"])
            rows.append({**bound, "system": system, "quantile": quantile, "share": share})
    columns = "system quantile max_sum kept share references one_minus_bleu"
    return Table(columns, rows)


def answers(run: FinishedRun) -> Table:
    """Return how many paraphrases are right answers: a row for all ranks, and one for each."""
    rows: list[Record] = []
    for system, figures in all_measures(run, "answers").items():
        ranks, of = figures["by_rank"], {"system": system, **figures}
        counts = ("right", "paraphrases")
        total = {name: sum(own[name] for own in ranks.values()) for name in counts}
        rows.append({**of, "rank": None, "of_rank": total, "all_ranks": figures})
        rows += [
            {**of, "rank": rank, "of_rank": own, "precision": own["share"], "all_ranks": None}
            for rank, own in sorted(ranks.items(), key=lambda each: int(each[0]))
        ]
    columns = (
        "system prompts found rank right=of_rank.right paraphrases=of_rank.paraphrases precision "
        "weighted_recall=all_ranks.weighted_recall weighted_macro_f1=all_ranks.weighted_macro_f1 "
        "distinct_right=all_ranks.distinct_right"
    )
    return Table(columns, rows)


def ratings(run: FinishedRun) -> Table:
    """Return what people say of all pairs, of every rank and of the oracle systems.

    As ParaBank 2, Table 1.
    """
    rows = [
        {**row, "system": system, "row": name, "references": of_system["references"]}
        for system, of_system in all_measures(run, "ratings").items()
        for name, row in rating_rows(of_system["figures"])
    ]
    columns = (
        f"system row references pairs rated {_PEOPLE} one_minus_bleu intersection_over_union? "
        "intersection_over_union_pieces? length_ratio? tree_edit_distance?"
    )
    return Table(columns, rows)


def ratings_by_length(run: FinishedRun) -> Table:
    """Return what people say of all pairs by the length of the reference (ParaBank, Table 4)."""
    rows = [
        {"system": system, **part}
        for system, of_system in all_measures(run, "ratings").items()
        for part in (of_system["figures"] or {"by_length": []})["by_length"]
    ]
    return Table("system from to pairs rated similarity grammatical", rows)


def variant_ratings(run: FinishedRun) -> Table:
    """Return what people say of every variant (ParaBank, Tables 4 and 5).

    A row is of all references, or of those of exactly `tokens` tokens, which have no interval.
    """
    rows = [
        {**part, "system": system, "variant": name}
        for system, figures in all_measures(run, "ratings").items()
        for name, of_variant in figures.get("variants", {}).items()
        for part in [of_variant, *of_variant["exact_lengths"]]
    ]
    columns = f"system variant tokens=length? pairs rated {_PEOPLE}"
    return Table(columns, rows)
