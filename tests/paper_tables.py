"""The tables of the four papers, read from the files of whoever has them.

`python -m tests.paper_tables FOLDER` writes from them what Paraloom ships, and leaves what no such
file has; a test compares the two. Without FOLDER it lists the measures of quoted figures that no
run has, and that no line of their paper's page names.
"""

import csv
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from workflow_scripts.core.files.tsv import read_rows
from workflow_scripts.stages.release.quoted import FIGURES, known_measures

COLUMNS = ("paper", "table", "row", "measure", "figure")
PAGES = Path(__file__).parents[1] / "docs"
_FIGURE = r"-?\d*\.?\d+"

# The columns that name a row, by the file; all others hold figures.
NAMES = {
    "bt2017_table2": ["corpus"],
    "bt2017_table3": ["language_pair"],
    "bt2017_table4": ["language", "data"],
    "bt2017_table5": ["data", "model"],
    "bt2017_table6": ["filtering_method"],
    "bt2017_table7": ["filtering_method"],
    "bt2017_table8": ["model", "language", "data"],
    "bt2017_table9": ["language", "data"],
    "bt2017_table10": ["metric"],
    "bt2017_table12": ["filtering_method"],
    "bt2017_table13": ["data", "pairs"],
    "paranmt_table1": ["dataset"],
    "paranmt_table3": ["score_above", "score_up_to"],
    "paranmt_table4": ["training_corpus"],
    "paranmt_table5": ["filtering_method"],
    "paranmt_table6": ["mega_batch"],
    "paranmt_table8": ["training_data", "model", "dimension"],
    "paranmt_table9": ["model", "dimension"],
    "paranmt_table10": ["first", "second"],
    "parabank_table2": ["token"],
    "parabank_table4": ["measure", "number", "system", "language_pair"],
    "parabank_table5": ["number", "system"],
    "parabank_table6": ["number", "system"],
    "parabank2_table1": ["system"],
    "parabank2_table2": ["first", "second"],
    "parabank2_table3": ["system"],
    "parabank2_table4": ["model"],
    "parabank2_table5": ["measure", "type"],
}
# Tables whose columns are models that are all measured by the same figure.
_ONE_MEASURE = {
    **dict.fromkeys(["bt2017_table4", "bt2017_table13"], "22 tasks"),
    **dict.fromkeys(["bt2017_table5", "bt2017_table6"], "22 tasks"),
    **dict.fromkeys(["bt2017_table7", "bt2017_table12"], "22 tasks"),
    **dict.fromkeys(["paranmt_table4", "paranmt_table5", "paranmt_table6"], "2017"),
    "bt2017_table10": "spearman",
}
# What the papers' columns are called here, by the file or in all.
_MEASURES = {
    "parabank2_table1.semantics": "similarity",
    "parabank2_table1.grammar": "grammatical",
    "parabank_table5.cs-en": "grammatical",
    "parabank_table5.fr-en": "grammatical",
    "parabank2_table3.sts2016_pearson": "2016",
    "parabank2_table3.sts2016_spearman": "2016.spearman",
    "intersection_over_union": "intersection_over_union_pieces",
    **dict.fromkeys(["bt2017_table2.cs", "bt2017_table2.fr", "bt2017_table2.de"], "corpus_pairs"),
    "parabank2_table5.F1": "SQuAD_f1",
    "parabank2_table5.Exact Match": "SQuAD_exact",
}
# What such columns say, in figures of one measure: the rest of the name goes to the row.
_RATED = re.compile(r"(paraphrase|fluency)_(\d)|(.+)_(spread)")
# Systems of the papers that have a name here, with their rank.
_SYSTEMS = {"ParaNMT": "paranmt, rank 1", "ParaBank 2 ": "parabank2, ", "ParaBank ": "parabank s"}


def tidy(folder: Path) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield paper, table, row, measure and figure of all tables that hold figures."""
    for stem, names in NAMES.items():
        paper, table = stem.split("_table")
        with (folder / f"{stem}.tsv").open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream, delimiter="\t"):
                for column, text in row.items():
                    if column in names:
                        continue
                    if re.fullmatch(_FIGURE, text):
                        yield paper, table, *_named(stem, names, row, column), _written(text)
                    elif ends := re.fullmatch(rf"\[({_FIGURE}),({_FIGURE})\]", text):
                        for end, figure in zip(("from", "to"), ends.groups(), strict=True):
                            yield paper, table, column, f"length_{end}", _written(figure)


def _written(text: str) -> str:
    """Return a figure with as many digits as the paper prints, but for zeros at its end."""
    return f"{float(text):.12g}"


def _named(stem: str, names: list[str], row: dict[str, str], column: str) -> tuple[str, str]:
    """Return the names of a row and of a measure."""
    parts = [row[name] for name in names if row[name]]
    if stem in ("parabank2_table1", "parabank2_table2"):
        parts = [_system(part) for part in parts]
    if stem.startswith("parabank_") and parts and parts[0].isdigit():
        parts[0] = f"system {parts[0]}:"
    measure = _MEASURES.get(f"{stem}.{column}", _MEASURES.get(column, column))
    if stem == "bt2017_table2":
        return f"{parts[0]} {column}", measure
    if stem == "parabank2_table5":
        return column, f"{_MEASURES[f'{stem}.{parts[0]}']}_{parts[1]}"
    if one := _ONE_MEASURE.get(stem):
        parts += [column] if column not in ("spearman", "model_average") else []
        measure = one
    elif stem == "parabank_table5":
        return _variant({**row, "language_pair": column}), measure
    elif stem == "parabank_table6":
        return _variant({"language_pair": "cs-en", **row}), measure
    elif stem == "parabank_table4":
        length = "mean of lengths" if column == "average" else column.replace("_", " ")
        return _variant(row, length), row["measure"].replace("semantic_", "")
    more: tuple[str, ...] = ()
    if rated := _RATED.fullmatch(column):
        kind, grade, spread_of, spread = rated.groups()
        measure, more = kind or spread, (grade or spread_of,)
    joint = " against " if stem in ("parabank2_table2", "paranmt_table10") else " "
    joint = " to " if stem == "paranmt_table3" else joint
    return ", ".join([joint.join(parts), *more]), measure


def _variant(row: dict[str, str], *more: str) -> str:
    """Return the name that a variant has here, with its languages unless they are Czech-English."""
    name = f"parabank s{row['number']}" if row["number"] else _system(row["system"])
    pair = [row["language_pair"]] if row["language_pair"] != "cs-en" else []
    return ", ".join([name, *more, *pair])


def _system(name: str) -> str:
    for theirs, ours in _SYSTEMS.items():
        if name.startswith(theirs):
            return name.replace(theirs, ours)
    return name


def shipped() -> list[tuple[str, ...]]:
    """Return what Paraloom ships, as `tidy` does."""
    return [tuple(row.values()) for _, row in read_rows(FIGURES, COLUMNS)]


def others() -> list[tuple[str, ...]]:
    """Return those of the shipped figures that stand in no file of `NAMES`."""
    return [row for row in shipped() if f"{row[0]}_table{row[1]}" not in NAMES]


def without_measure(pages: Path = PAGES) -> list[str]:
    """Return the measures that no run has and no line of their paper's page names."""
    known = known_measures()
    asked = dict.fromkeys((paper, measure) for paper, _, _, measure, _ in shipped())
    return [
        f"{paper}: {measure}"
        for paper, measure in asked
        if measure not in known
        and f"`{measure}`" not in (pages / f"{paper}.md").read_text(encoding="utf-8")
    ]


def main(folder: Path) -> None:
    lines = ["\t".join(row) for row in [COLUMNS, *tidy(folder), *others()]]
    FIGURES.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:]:
        main(Path(sys.argv[1]))
    else:
        sys.stdout.writelines(f"{line}\n" for line in without_measure())
