"""What people say of one system's paraphrases (ParaBank, Tables 4 and 5; ParaBank 2, Table 1).

Ratings belong to a pair by the reference's id and the paraphrase's text, whichever system it was
rated for. docs/evaluate.md says how the rows of the table are made.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from workflow_scripts.core.command import command
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.files.input_files import unchanged
from workflow_scripts.core.files.manifest import shard_paths, verify, verify_file, write_record
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import ParaphrasesRow, ScoredRow, TreesRow
from workflow_scripts.core.progress import progress
from workflow_scripts.core.text.normalisation import words
from workflow_scripts.stages.evaluate.diversity import Comparison, mean, sentence
from workflow_scripts.stages.evaluate.exact_lengths import LENGTHS
from workflow_scripts.stages.evaluate.lengths import ENDS, place
from workflow_scripts.stages.evaluate.results import ORACLES
from workflow_scripts.stages.judge.annotator_agreement import agreement
from workflow_scripts.stages.judge.rating_file import CONTROL, Rating, read_ratings
from workflow_scripts.stages.judge.ratings import come_to, counted, figure_intervals
from workflow_scripts.stages.subword.segmenter import Segmenter, segmenter_path
from workflow_scripts.stages.syntax.tree_distance import distances

# The record of ratings.json: rating.json, as ratings.json itself looks like a record.
RECORD = "rating"
COLUMNS = ["id", "reference", "paraphrases"]
SCORED = ["id", "reference", "candidates"]
# `similarity` and `grammatical` of a pair, by the reference's id and the paraphrase's text.
Said = Mapping[tuple[str, str], dict[str, Any]]


def of_pairs(ratings: Iterable[Rating]) -> Said:
    """Return what people say of each rated pair, controls apart."""
    key = ["reference", "paraphrase"]
    pairs = come_to((rating for rating in ratings if set(rating.systems) != {CONTROL}), key)
    said: Said = pairs.set_index(key).to_dict("index")
    return said


def rated_pairs(
    rows: Iterable[ParaphrasesRow],
    said: Said,
    best: int,
    trees: Mapping[str, TreesRow] = MappingProxyType({}),
) -> pd.DataFrame:
    """Return the rated pairs of rows of the `paraphrases` schema.

    Args:
        rows: `COLUMNS` of them.
        said: see `of_pairs`.
        best: paraphrases of a reference at most.
        trees: rows of the `trees` schema of those references that were parsed, by id.

    Returns:
        The columns `reference` (its id), `text`, `paraphrase`, `rank`, `listed` (how many
        paraphrases the reference has), `tree` and `own_tree` (of the reference and of the
        paraphrase; None: it has none), `similarity` and `grammatical`.
    """
    return _table(
        {
            **{"reference": row["id"], "text": row["reference"], "listed": len(listed)},
            **{"rank": rank, "paraphrase": paraphrase["text"], **of_pair},
            **({"tree": parsed["reference"]} if parsed else {}),
            **({"own_tree": parsed["paraphrases"][rank - 1]} if parsed else {}),
        }
        for row in rows
        for listed, parsed in [(row["paraphrases"][:best], trees.get(row["id"]))]
        for rank, paraphrase in enumerate(listed, start=1)
        if (of_pair := said.get((row["id"], paraphrase["text"])))
    )


def _table(pairs: Iterable[dict[str, Any]]) -> pd.DataFrame:
    names = ["reference", "text", "paraphrase", "rank", "listed", "variant"]
    names += ["tree", "own_tree"]
    said = {"similarity": float, "grammatical": bool}
    return pd.DataFrame(pairs, columns=[*names, *said]).astype(said)


def rows_of(pairs: pd.DataFrame, best: int) -> dict[str | int, pd.DataFrame]:
    """Return the pairs of each row of the figures: `all`, each rank, and the oracle systems.

    A rank beyond the last paraphrase of a reference is that one (ParaBank 2, 3.4). Of equal scores
    `max` is that of the best rank, and `min` of the worst one; the median of an even number is the
    lower one of the two in the middle.
    """
    scored = pairs.dropna(subset="similarity").sort_values(
        ["similarity", "rank"], ascending=[False, True]
    )
    of_reference = scored.groupby("reference")
    place, count = of_reference.cumcount(), of_reference["rank"].transform("size")
    chosen = zip(ORACLES, (place == 0, place == count // 2, place == count - 1), strict=True)
    return {
        "all": pairs,
        **{
            rank: pairs[pairs["rank"] == pairs["listed"].clip(upper=rank)]
            for rank in range(1, best + 1)
        },
        **{oracle: scored[own].sort_index() for oracle, own in chosen},
    }


def compared(
    pairs: Iterable[tuple[str, str]],
    trees: Iterable[tuple[str | None, str | None]],
    segmenter: Segmenter,
    levels: int | None,
) -> dict[str, Any]:
    """Return the measures of diversity of pairs (ParaBank 2, Tables 1 and 2).

    Args:
        pairs: both sentences of each.
        trees: theirs.
        segmenter: of the paraphrase language.
        levels: of the trees that count; None where nothing is parsed.

    Returns:
        Those of words; `intersection_over_union_pieces`; `tree_edit_distance`, the mean over the
        pairs with both trees, None without any.
    """
    comparison = Comparison()
    for pair in pairs:
        comparison.add(*(sentence(text, segmenter) for text in pair))
    found = comparison.result()
    distance = distances(levels or 1)
    between = [
        distance.of_trees(one, other)
        for one, other in trees
        if levels and isinstance(one, str) and isinstance(other, str)
    ]
    return {
        **{name: found[name] for name in ("pairs", "one_minus_bleu")},
        **found.get("words", {}),
        "intersection_over_union_pieces": found.get("pieces", {}).get("intersection_over_union"),
        "tree_edit_distance": mean(sum(between), len(between)),
    }


def best_against_worst(
    rows: Mapping[str | int, pd.DataFrame], segmenter: Segmenter, levels: int | None
) -> dict[str, Any]:
    """Return the measures of the oracle systems max and min against each other (Table 2).

    A reference with one scored paraphrase counts, too: it stands in both.
    """
    first, second = (rows[name].set_index("reference") for name in (ORACLES[0], ORACLES[-1]))
    joined = first.join(second, rsuffix="_worst")
    return compared(
        zip(joined["paraphrase"], joined["paraphrase_worst"], strict=True),
        zip(joined["own_tree"], joined["own_tree_worst"], strict=True),
        segmenter,
        levels,
    )


def summary(pairs: pd.DataFrame, config: dict[str, Any], segmenter: Segmenter) -> dict[str, Any]:
    """Return the figures of all rated pairs, of each rank, each oracle and each range of lengths.

    Args:
        pairs: by `rated_pairs`, at least one.
        config: the stage's settings: `best`, `bootstrap` and `seed`, and `syntax` if there are
            trees.
        segmenter: of the paraphrase language.
    """
    best, samples, seed = (config[name] for name in ("best", "bootstrap", "seed"))
    levels = config["syntax"]["levels"] if config.get("syntax") else None
    rows = rows_of(pairs, best)
    intervals = figure_intervals([*rows.values()], pairs["reference"].unique(), samples, seed)
    figures = {
        name: {
            **compared(
                zip(row["text"], row["paraphrase"], strict=True),
                zip(row["tree"], row["own_tree"], strict=True),
                segmenter,
                levels,
            ),
            **_figures(row),
            "interval": interval,
        }
        for (name, row), interval in zip(rows.items(), intervals, strict=True)
    }
    spans = pairs["text"].map(lambda text: place(len(words(text))))
    starts = [0, *(end + 1 for end in ENDS)]
    return {
        "all": figures["all"],
        "by_length": [
            {"from": start, "to": end, **_figures(pairs[spans == span])}
            for span, (start, end) in enumerate(zip(starts, [*ENDS, None], strict=True))
        ],
        "exact_lengths": _exact_lengths(pairs),
        "ranks": [{"rank": rank, **figures[rank]} for rank in range(1, best + 1)],
        "oracles": [{"oracle": name, **figures[name]} for name in ORACLES],
        "max_against_min": best_against_worst(rows, segmenter, levels),
    }


def variant_figures(
    rows: Iterable[ScoredRow], said: Said, config: dict[str, Any]
) -> dict[str, Any]:
    """Return what people say of the outputs of each variant (ParaBank, Tables 4 and 5).

    All outputs count, whether or not they were selected; one that several variants share counts for
    each.

    Args:
        rows: of the `scored` schema, `SCORED` of them.
        said: see `of_pairs`.
        config: the stage's settings, with `variants`, their names.
    """
    outputs = _table(
        {
            **{"reference": row["id"], "text": row["reference"]},
            **{"variant": candidate["variant"].split(), **of_pair},
        }
        for row in rows
        for candidate in row["candidates"]
        if (of_pair := said.get((row["id"], candidate["text"])))
    ).explode("variant")
    pairs = [outputs[outputs["variant"] == name] for name in config["variants"]]
    references = outputs["reference"].unique()
    intervals = figure_intervals(pairs, references, config["bootstrap"], config["seed"])
    return {
        name: {**_figures(own), "interval": interval, "exact_lengths": _exact_lengths(own)}
        for name, own, interval in zip(config["variants"], pairs, intervals, strict=True)
    }


def _exact_lengths(pairs: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the figures of the references that have exactly so many tokens."""
    tokens = pairs["text"].map(lambda text: len(text.split()))
    return [{"length": length, **_figures(pairs[tokens == length])} for length in LENGTHS]


def _figures(pairs: pd.DataFrame) -> dict[str, Any]:
    """Return `similarity`, `grammatical`, `pairs` as `paraloom ratings`, and how many `rated`."""
    scores = pairs["similarity"].dropna().tolist()
    return {
        "similarity": mean(sum(scores), len(scores)),
        "grammatical": mean(100.0 * int(pairs["grammatical"].sum()), len(pairs)),
        "pairs": len(scores),
        "rated": len(pairs),
    }


def rate_system(
    config: dict[str, Any],
    selected: Sequence[Path],
    scored: Sequence[Path],
    file: Path,
    segmenter: Segmenter,
    parsed: Sequence[Path] = (),
) -> dict[str, Any]:
    """Return ratings.json of a system.

    Args:
        config: the stage's settings, with `ratings`, and `variants` where the system has some.
        selected: the shards of the select stage.
        scored: those of the score stage, read only for variants.
        file: of ratings.
        segmenter: of the paraphrase language.
        parsed: the shards of the syntax stage, where sentences are parsed.

    Raises:
        InputError: a file is damaged, the ratings are none, nobody's ratings count, or they are of
            references that the run does not have.
    """
    bounds = config["ratings"]
    ratings = read_ratings(file)
    counting, left_out = counted(
        file, ratings, bounds["min_judgments"], bounds["max_failed_controls"]
    )
    said = of_pairs(counting)
    known = {reference for reference, _ in said}
    own: list[ParaphrasesRow] = []
    for path in selected:
        verify(path)
        rows = read_rows(path, ParaphrasesRow, COLUMNS)
        own += [row for row in progress(rows, desc=f"ratings {path.stem}") if row["id"] in known]
    # The references of a system that a rewriter writes may all be others than those rated.
    if not own and "rewritten" not in config:
        raise InputError(
            f"evaluate.ratings: {file}: its ref_id are of no reference of this run (the first is "
            f"{counting[0].reference}); name ratings that were collected on its references"
        )
    trees: dict[str, TreesRow] = {}
    for path in parsed:
        verify(path)
        of_shard = read_rows(path, TreesRow)
        trees |= {row["id"]: row for row in of_shard if row["id"] in known and row["parsed"]}
    pairs = rated_pairs(own, said, config["best"], trees)
    if pairs.empty:
        print(
            f"warning: {file} has no rating of what {config['system']} selected; rate it with "
            "paraloom annotate",
            file=sys.stderr,
        )
    of_variants = {}
    for path in scored:
        verify(path)
    if config.get("variants"):
        outputs = (row for path in scored for row in read_rows(path, ScoredRow, SCORED, 64))
        of_variants = {"variants": variant_figures(outputs, said, config)}
    references = pairs.drop_duplicates("reference")
    return {
        "ratings": len(counting),
        "annotators": len({rating.annotator for rating in counting}),
        "left_out": left_out,
        "agreement": agreement(counting, config["seed"]),
        "references": len(references),
        "listed": int(references["listed"].sum()),
        "figures": None if pairs.empty else summary(pairs, config, segmenter),
        **of_variants,
    }


def write_ratings(
    config: dict[str, Any],
    folder: Path,
    scored: Path,
    ratings: Path,
    model: Path,
    shards: int,
    output: Path,
    trees: Path | None = None,
    inputs: dict[str, str] | None = None,
) -> None:
    """Write what people say of one system's paraphrases.

    Args:
        config: see `rate_system`.
        folder: of the select stage.
        scored: folder of the score stage, for variants.
        ratings: of people (docs/annotate.md).
        model: folder of the model whose pieces count.
        output: ratings.json; its record is `rating` beside it.
        trees: folder of the syntax stage, if there is one.

    Raises:
        InputError: see `unchanged` and `rate_system`.
    """
    selected, outputs = shard_paths(folder, shards), shard_paths(scored, shards)
    parsed = shard_paths(trees, shards) if trees else []
    segmenter_file = segmenter_path(model, "reference")
    verify_file(segmenter_file, "model")
    with unchanged(inputs or {}):
        segmenter = Segmenter(segmenter_file)
        rated = rate_system(config, selected, outputs, ratings, segmenter, parsed)
    write_json(output, rated)
    references = rated["references"]
    write_record(output.with_name(RECORD), references, references, {}, files=[output])


main = command(write_ratings, __name__)
