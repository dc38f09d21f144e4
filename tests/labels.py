"""Make the labelled paraphrases of `labels/` (labels/README.md).

    python -m tests.labels references --data FOLDER --output FOLDER
    python -m tests.labels lists --data FOLDER --output FOLDER --runs RUN ...
    python -m tests.labels collect --output FOLDER
    python -m tests.labels check

The first draws the references that recipes/labels.yaml paraphrases. The second draws paraphrases of
the finished runs, and writes them as lists without system and score, mixed with others that were
judged before. The third reads the judged lists, and writes `labels/`. The last prints what is
there.
"""

import argparse
import csv
import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from pyarrow import parquet
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score

from paraloom import models, read
from workflow_scripts.core.files.tsv import read_rows
from workflow_scripts.core.text.normalisation import letters_and_digits
from workflow_scripts.nmt.divergence import Compared, compared_texts
from workflow_scripts.stages.clean.normalise import normalise
from workflow_scripts.stages.score.near_equal import spelt

FOLDER = Path(__file__).resolve().parents[1] / "labels"
SEED = 34
_STRATA = [(5, 7), (8, 14), (15, 22), (23, 40)]
_MARKS = set("<>{}|$%*_=#\\^~[]")
_BEFORE = "labelled_pt_en/labels.tsv"


def _rows(path: Path) -> Iterator[dict[str, str]]:
    """Yield the rows of a table with a head, by column."""
    return (row for _, row in read_rows(path, ()))


class Kind(NamedTuple):
    """Where references of one kind come from, and how many are drawn for each language."""

    file: str
    portuguese: int  # columns of the file
    english: int
    header: bool
    number: dict[str, tuple[int, ...]]  # by language of the reference: of each stratum of words


KINDS = {
    "tatoeba": Kind(
        "tatoeba_tests/por-eng.tsv", 0, 1, False, {"en": (18, 36, 20, 0), "pt": (8, 12, 5, 0)}
    ),
    "wesnoth": Kind(
        "wesnoth_multi/wesnoth.tsv", 2, 1, True, {"en": (12, 22, 28, 22), "pt": (4, 8, 8, 6)}
    ),
    "spd": Kind("spd_multi/spd.tsv", 2, 1, True, {"en": (9, 18, 20, 11), "pt": (3, 7, 8, 6)}),
    "pud": Kind("pud_multi/pud.tsv", 2, 1, True, {"en": (6, 24, 36, 38), "pt": (3, 8, 9, 6)}),
}


def pairs(data: Path, kind: Kind, language: str) -> Iterator[tuple[str, str]]:
    """Yield (source, reference) of a kind, where both are text without marks, in cp1252."""
    with (data / kind.file).open(encoding="utf-8", newline="") as stream:
        rows = csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        for number, row in enumerate(rows):
            if kind.header and not number:
                continue
            pair = (row[kind.portuguese].strip(), row[kind.english].strip())
            if language == "pt":
                pair = (pair[1], pair[0])
            if all(pair) and not _MARKS & set("".join(pair)) and not pair[1].isupper():
                try:
                    "".join(pair).encode("cp1252")
                except UnicodeEncodeError:
                    continue
                yield pair


def draw(data: Path, language: str) -> dict[str, list[tuple[str, str]]]:
    """Return the references drawn of each kind, with their sources; none was labelled before."""
    seen = kept_apart_labels(data)
    drawn = {}
    for name, kind in KINDS.items():
        found: dict[int, list[tuple[str, str]]] = {stratum: [] for stratum in range(len(_STRATA))}
        for source, reference in pairs(data, kind, language):
            key, words = letters_and_digits(reference), len(reference.split())
            for stratum, (least, most) in enumerate(_STRATA):
                if least <= words <= most and key not in seen:
                    seen.add(key)
                    found[stratum].append((source, reference))
        order = random.Random(f"{SEED} {language} {name}")
        drawn[name] = [
            pair
            for stratum, number in enumerate(kind.number[language])
            for pair in order.sample(found[stratum], number)
        ]
    return drawn


def kept_apart_labels(data: Path) -> set[str]:
    """Return the keys of the references that were labelled before."""
    return {letters_and_digits(row["reference"]) for row in _rows(data / _BEFORE)}


def write_references(data: Path, output: Path) -> None:
    """Write `<language>/<kind>.tsv` (source, reference) and `<kind>.txt` (references alone)."""
    for language in ("en", "pt"):
        folder = output / language
        folder.mkdir(parents=True, exist_ok=True)
        for name, drawn in draw(data, language).items():
            (folder / f"{name}.tsv").write_text(
                "".join(f"{source}\t{reference}\n" for source, reference in drawn), "utf-8"
            )
            (folder / f"{name}.txt").write_text(
                "".join(f"{reference}\n" for _, reference in drawn), "utf-8"
            )


_EACH = 8  # paraphrases of a reference
_LIST = 100  # paraphrases of a list
_AGAIN = 50  # references whose paraphrases are judged a second time


class Item(NamedTuple):
    """A paraphrase that is judged, and what the reader does not see of it."""

    group: str  # kind and number of its reference
    source: str  # that is shown: the human one; empty where there is none
    reference: str
    paraphrase: str
    known: dict[str, str]


def of_run(run: Path, folder: Path, language: str) -> Iterator[Item]:
    """Yield what the systems of a finished run chose, a few paraphrases of each reference.

    A system is drawn, then one of the paraphrases that it chose, and so on: each system and each
    kind of source has the same share. A paraphrase of several sources has the NLLs of the source
    that gives the lowest sum.
    """
    written, near = _sources(run), spelt(language)
    for kind in KINDS:
        lines = (folder / language / f"{kind}.tsv").read_text("utf-8").splitlines()
        by_line: dict[int, dict[str, dict[str, dict[str, Any]]]] = {}
        for system in sorted(path.suffix[1:] for path in run.glob("select.*")):
            for row in read(run, system=system).to_dict("records"):
                corpus, line = row["id"].split(":")[:2]
                if row["rank"] and corpus.removesuffix("_written") == kind:
                    way = f"{system}{corpus.removeprefix(kind)}"
                    of_way = by_line.setdefault(int(line), {}).setdefault(way, {})
                    of_way.setdefault(near(row["text"]), row)
        for number, pair in enumerate(lines, 1):
            source, reference = pair.split("\t")
            ways = by_line.get(number, {})
            order = random.Random(f"{SEED} {language} {kind} {number}")
            drawn: dict[str, None] = {near(reference): None}
            while len(drawn) <= _EACH:
                left = {
                    way: [key for key in of_way if key not in drawn] for way, of_way in ways.items()
                }
                if not (open_ways := sorted(way for way, keys in left.items() if keys)):
                    break
                drawn[order.choice(left[order.choice(open_ways)])] = None
            for key in [*drawn][1:]:
                rows = {way: of_way[key] for way, of_way in ways.items() if key in of_way}
                best = min(rows.values(), key=lambda row: (row["score"], row["id"]))
                yield Item(
                    f"{kind}-{language}-{number:03}",
                    source,
                    reference,
                    best["text"],
                    {
                        "kind": kind,
                        "source": written.get(best["id"], source),
                        "forward_nll": f"{best['forward_nll']:.4f}",
                        "backward_nll": f"{best['backward_nll']:.4f}",
                        "systems": " ".join(sorted(rows)),
                    },
                )


def _sources(run: Path) -> dict[str, str]:
    """Return the written sources of a run by the id of their references."""
    return {
        row["id"]: row["source"]
        for path in sorted(run.glob("corpus.*_written/*.parquet"))
        for row in parquet.read_table(path, columns=["id", "source"]).to_pylist()
    }


def judged_before(data: Path) -> Iterator[Item]:
    """Yield the paraphrases of `labelled_pt_en` and of ParaBank's ratings that keep the scale."""
    for number, row in enumerate(_rows(data / _BEFORE), 1):
        yield Item(
            f"old-{row['id']}",
            row["source"],
            row["reference"],
            row["paraphrase"],
            {"kind": "labelled_pt_en", "line": str(number), "label": row["label"]},
        )
    folder = data / "parabank_ratings"
    texts = {row["ref_id"]: row["ref_sent"] for row in _rows(folder / "ref.tsv")}
    ratings: dict[str, dict[str, list[float]]] = {}
    for row in _rows(folder / "candidates.tsv"):
        if row["sys_id"] != "0" and row["human_score"]:
            rated = ratings.setdefault(row["ref_id"], {})
            rated.setdefault(row["candidate"], []).append(float(row["human_score"]))
    order = random.Random(SEED)
    for reference in order.sample(sorted(ratings), 42):
        chosen = sorted(ratings[reference])
        for paraphrase in order.sample(chosen, min(_EACH, len(chosen))):
            scores = ratings[reference][paraphrase]
            yield Item(
                f"rated-{reference}",
                "",
                texts[reference],
                paraphrase,
                {
                    "kind": "parabank_ratings",
                    "line": reference,
                    "rating": f"{sum(scores) / len(scores):.1f}",
                },
            )


def write_lists(name: str, items: Sequence[Item], output: Path, seed: str) -> None:
    """Write `lists/<name>-NN.txt`, by reference, and what was left out, `<name>.key.jsonl`."""
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(item.group, []).append(item)
    order = random.Random(seed)
    folder = output / "lists"
    folder.mkdir(exist_ok=True)
    number, full, texts = 0, 0, []
    with (folder / f"{name}.key.jsonl").open("w", encoding="utf-8") as key:
        for group in order.sample(sorted(groups), len(groups)):
            if not number or full >= _LIST:
                number, full = number + 1, 0
                texts.append([])
            of_group = order.sample(groups[group], len(groups[group]))
            texts[-1].append(f"R {of_group[0].reference}")
            texts[-1].extend([f"S {of_group[0].source}"] if of_group[0].source else [])
            for item in of_group:
                full += 1
                texts[-1].append(f"{full}\t{item.paraphrase}")
                key.write(json.dumps({"list": number, "item": full, **item._asdict()}) + "\n")
            texts[-1].append("")
    for place, lines in enumerate(texts, 1):
        (folder / f"{name}-{place:02}.txt").write_text("\n".join(lines), "utf-8")


def make_lists(data: Path, output: Path, runs: dict[str, Path]) -> None:
    """Write the lists of both languages, and those that are judged a second time."""
    for language, run in runs.items():
        items = [*of_run(run, output, language)]
        if language == "en":
            groups = sorted({item.group for item in items})
            again = set(random.Random(f"{SEED} again").sample(groups, _AGAIN))
            write_lists("again", [item for item in items if item.group in again], output, "again")
            items += judged_before(data)
        write_lists(language, items, output, f"{SEED} {language} lists")


# The labels and faults of labels/instruction.md.
LABELS = ("good", "acceptable", "bad", "copy")
FAULTS = (
    "none", "form", "sense", "name", "role",
    "untranslated", "invented", "dropped", "added", "repeated",
)  # fmt: skip
LANGUAGES = {"en": "english", "pt": "portuguese"}
COLUMNS = (
    "id", "kind", "split", "source", "reference", "paraphrase", "forward_nll", "backward_nll",
    "lost", "divergence", "systems", "label", "fault", "label_again", "fault_again",
)  # fmt: skip
_TESTED = 0.2  # share of references that no judge of ours is fitted to
LICENCES = {
    "tatoeba": "CC BY 2.0 FR",
    "pud": "CC BY-SA 3.0",
    "wesnoth": "GPL-2.0-or-later",
    "spd": "GPL-3.0-or-later",
}
_GAMES = ("wesnoth", "spd")
# A copy counts as good where labels are an order.
_VALUE = {"bad": 0, "acceptable": 1, "good": 2, "copy": 2}


class Verdict(NamedTuple):
    """What the reader said of a paraphrase."""

    label: str
    fault: str


def verdicts(output: Path, name: str) -> list[tuple[dict[str, Any], Verdict]]:
    """Return the items of the lists of a name with what was said of them.

    Raises:
        SystemExit: a list has no answer, or one that does not fit it.
    """
    folder = output / "lists"
    keys: dict[int, list[dict[str, Any]]] = {}
    for line in (folder / f"{name}.key.jsonl").read_text("utf-8").splitlines():
        item = json.loads(line)
        keys.setdefault(item["list"], []).append(item)
    found = []
    for number, items in keys.items():
        path = folder / f"{name}-{number:02}.answers.tsv"
        lines = path.read_text("utf-8").splitlines()
        if len(lines) != len(items):
            raise SystemExit(f"{path} has {len(lines)} answers for {len(items)} paraphrases")
        for item, line in zip(items, lines, strict=True):
            place, *said = line.split("\t")
            verdict = Verdict(*said)
            sound = verdict.fault in FAULTS and verdict.label in LABELS
            if not sound or (verdict.fault == "none") != (verdict.label in ("good", "copy")):
                raise SystemExit(f"{path}: {line!r} is no answer")
            if int(place) != item["item"]:
                raise SystemExit(f"{path}: {line!r} stands where {item['item']} should")
            found.append((item, verdict))
    return found


def split_of(group: str) -> str:
    """Return the part that a reference belongs to: `train` or `test`."""
    return "test" if random.Random(f"{SEED} split {group}").random() < _TESTED else "train"


def collect(output: Path) -> None:
    """Write the files of `labels/` from the judged lists."""
    again = {
        (item["group"], item["paraphrase"]): verdict for item, verdict in verdicts(output, "again")
    }
    scale: list[dict[str, str]] = []
    for language, long in LANGUAGES.items():
        pool = [row for row in table(long) if row["systems"] == "pool"]  # read later, and once
        rows: dict[str, list[dict[str, str]]] = {long: pool, f"{long}-games": []}
        for item, verdict in verdicts(output, language):
            known = item["known"]
            if known["kind"] not in KINDS:
                scale.append({**known, **verdict._asdict(), "old": known.get("label", "")})
                continue
            second = again.get((item["group"], item["paraphrase"]), Verdict("", ""))
            rows[f"{long}-games" if known["kind"] in _GAMES else long].append(
                {
                    **known,
                    "id": item["group"],
                    "split": split_of(item["group"]),
                    "reference": item["reference"],
                    "paraphrase": item["paraphrase"],
                    **verdict._asdict(),
                    "label_again": second.label,
                    "fault_again": second.fault,
                }
            )
        for name, of_file in rows.items():
            for row, found in zip(of_file, compared_rows(language, of_file), strict=True):
                row |= {"lost": f"{found.lost:.4f}", "divergence": f"{found.divergence:.4f}"}
            _write(FOLDER / f"{name}.tsv", COLUMNS, sorted(of_file, key=itemgetter("id")))
    _write_scale(scale)


def compared_rows(
    language: str, rows: Sequence[Mapping[str, str]], precision: str = "int8"
) -> list[Compared]:
    """Return what the student that made the candidates finds in each row, as `score` does."""
    name = {"en": "student_en_pt", "pt": "student_pt_en"}[language]
    student = models.load(name, None, precision)
    names = ("reference", "source", "paraphrase")
    texts = [tuple(normalise(row[name]) for name in names) for row in rows]
    return compared_texts(student.model, texts, student.source.encode, student.target.encode)


def _write(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        stream.write("\t".join(columns) + "\n")
        for row in rows:
            stream.write("\t".join(row[column] for column in columns) + "\n")


def _write_scale(scale: Sequence[Mapping[str, str]]) -> None:
    """Write how the labels agree with what was judged before: ids and agreement, no text."""
    names = {"G": "good", "A": "acceptable", "B": "bad"}
    old = [row for row in scale if row["kind"] == "labelled_pt_en"]
    rated = [row for row in scale if row["kind"] == "parabank_ratings"]
    order = [(_VALUE[row["label"]], float(row["rating"])) for row in rated]
    table = Counter((names[row["old"]], row["label"]) for row in old)
    content = {
        "labelled_pt_en": {
            "lines": sorted(int(row["line"]) for row in old),
            "old_and_new": {
                before: {label: table[before, label] for label in LABELS}
                for before in names.values()
            },
        },
        "parabank_ratings": {
            "ref_ids": sorted({int(row["line"]) for row in rated}),
            "pairs": len(rated),
            "spearman": round(float(spearmanr(order).statistic), 3),
            "mean_rating": {
                label: round(
                    mean(float(row["rating"]) for row in rated if row["label"] == label), 1
                )
                for label in LABELS
                if any(row["label"] == label for row in rated)
            },
        },
    }
    (FOLDER / "scale.json").write_text(json.dumps(content, indent=1) + "\n", "utf-8")


def table(name: str) -> list[dict[str, str]]:
    """Return the rows of a file of `labels/`."""
    return [*_rows(FOLDER / f"{name}.tsv")]


def _shown(*rows: Sequence[object]) -> Iterator[str]:
    """Yield the lines of a table of Markdown, its head first."""
    head, *others = (f"| {' | '.join(map(str, row))} |" for row in rows)
    yield from (head, "|---" * len(rows[0]) + "|", *others, "")


def check() -> Iterator[str]:
    """Yield the tables of labels/README.md: rows by licence, labels and faults, agreement.

    Raises:
        SystemExit: a row is not as it should be.
    """
    rows = [
        {**row, "file": name}
        for long in LANGUAGES.values()
        for name in (long, f"{long}-games")
        for row in table(name)
    ]
    for row in rows:
        wrong = (
            row["label"] not in LABELS
            or row["fault"] not in FAULTS
            or row["split"] != split_of(row["id"])
            or (row["kind"] in _GAMES) != row["file"].endswith("games")
        )
        if wrong:
            raise SystemExit(f"labels/{row['file']}.tsv: {row} is not as it should be")
    files = []
    for name, kind in dict.fromkeys((row["file"], row["kind"]) for row in rows):
        of_kind = [row for row in rows if (row["file"], row["kind"]) == (name, kind)]
        references = {row["id"] for row in of_kind}
        tested = sum(split_of(reference) == "test" for reference in references)
        labels = Counter(row["label"] for row in of_kind)
        numbers = [len(references), tested, len(of_kind), *(labels[label] for label in LABELS)]
        files.append([f"{name}.tsv", LICENCES[kind], kind, *numbers])
    yield from _shown(["file", "licence", "kind", "references", "`test`", "rows", *LABELS], *files)
    worst = Counter((row["fault"], row["file"].partition("-")[0]) for row in rows)
    faults = [[fault, *(worst[fault, name] for name in LANGUAGES.values())] for fault in FAULTS[1:]]
    yield from _shown(["worst fault", *LANGUAGES.values()], *faults)
    twice = [row for row in rows if row["label_again"]]
    both = Counter((row["label"], row["label_again"]) for row in twice)
    again = [[first, *(both[first, second] for second in LABELS)] for first in LABELS]
    yield from _shown(["first / second reading", *LABELS], *again)
    first, second = ([row[name] for row in twice] for name in ("label", "label_again"))
    equal = mean(a == b for a, b in zip(first, second, strict=True))
    values = [[_VALUE[label] for label in said] for said in (first, second)]
    plain, linear = cohen_kappa_score(first, second), cohen_kappa_score(*values, weights="linear")
    yield (
        f"{len(twice)} were judged twice: {equal:.1%} have the same label, kappa {plain:.2f} (with "
        f"linear weights {linear:.2f})."
    )


def scale() -> Iterator[str]:
    """Yield what labels/README.md says of the scale."""
    content = json.loads((FOLDER / "scale.json").read_text("utf-8"))
    counts = content["labelled_pt_en"]["old_and_new"].items()
    now = [[before, *(each[label] for label in LABELS)] for before, each in counts]
    yield from _shown(["before / now", *LABELS], *now)
    rated = content["parabank_ratings"]
    means = ", ".join(f"{label} {value}" for label, value in rated["mean_rating"].items())
    yield f"{rated['pairs']} rated pairs: Spearman {rated['spearman']}; mean rating: {means}."


def main() -> None:
    """Make the labelled paraphrases of `labels/`."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    steps = parser.add_subparsers(dest="step", required=True)
    for name in ("references", "lists", "collect"):
        step = steps.add_parser(name)
        step.add_argument("--output", type=Path, required=True)
        if name != "collect":
            step.add_argument("--data", type=Path, required=True)
        if name == "lists":
            step.add_argument(
                "--runs", type=Path, nargs=2, required=True, help="English, Portuguese"
            )
    steps.add_parser("check")
    given = parser.parse_args()
    if given.step == "references":
        write_references(given.data, given.output)
    elif given.step == "lists":
        make_lists(given.data, given.output, dict(zip(LANGUAGES, given.runs, strict=True)))
    elif given.step == "collect":
        collect(given.output)
    else:
        print("\n".join([*check(), "", *scale()]))


if __name__ == "__main__":
    main()
