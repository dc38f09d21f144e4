"""Reading of published data sets of semantic textual similarity.

    STS.input.NAME.txt, STS.gs.NAME.txt    SemEval 2012 to 2017 (2016: STS2016.input ...)
    sts-dev.csv                            STS Benchmark (train, dev, test)
    SICK*.txt                              SICK, in one file or in three
    *.data                                 SemEval-2015 task 1, Twitter
    *.tsv                                  anything else: score, sentence, sentence

A pair without a score is left out and counted.
"""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from operator import itemgetter
from pathlib import Path

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.packed_lines import read_lines
from workflow_scripts.core.files.tsv import fields
from workflow_scripts.core.statistics.numbers import finite

# The data sets of the papers, by group.
KNOWN = {
    "2012": ("MSRpar", "MSRvid", "SMTeuroparl", "surprise.OnWN", "surprise.SMTnews"),
    "2013": ("FNWN", "headlines", "OnWN", "SMT"),
    "2014": ("deft-forum", "deft-news", "headlines", "images", "OnWN", "tweet-news"),
    "2015": ("answers-forums", "answers-students", "belief", "headlines", "images"),
    "2016": ("answer-answer", "headlines", "plagiarism", "postediting", "question-question"),
    "2017": ("track5.en-en",),
    "stsbenchmark": ("dev", "test"),
    "sick": ("test",),
    "twitter": ("test",),
}
# The 22 test sets of Wieting et al. (2017, 5.1); the five of 2016 are their development data.
BT17_TASKS = tuple(
    f"{group}.{name}"
    for group in ("2012", "2013", "2014", "2015", "sick", "twitter")
    for name in KNOWN[group]
)
# Names that a result uses beside those of the data sets.
RESERVED = ("mean", "weighted", "all", "bt2017")

_SEMEVAL = re.compile(r"STS(?P<year>20\d\d)?\.(?P<kind>input|gs)\.(?P<name>.+)\.txt")
_BENCHMARK = re.compile(r"sts-(?P<part>train|dev|test)\.csv")
_SICK = re.compile(r"SICK.*\.txt")
_YEAR = re.compile(r"(?<!\d)(?:20)?(1[2-7])(?!\d)")
_LANGUAGES = re.compile(r"\b(?P<first>[a-z]{2})-(?P<second>[a-z]{2})$")
_VOTES = re.compile(r"\((\d+), *\d+\)", re.ASCII)

_MOST_BYTES = 1 << 20

Scored = tuple[float | None, str, str]


@dataclass(frozen=True)
class DataSet:
    """Pairs of sentences with their gold scores; a higher score means more similar.

    Attributes:
        group: a year of SemEval, or another group that the data set belongs to.
        name: begins with the group.
        scores, pairs: of the pairs that have a score.
        unscored: how many pairs have no score.
    """

    group: str
    name: str
    scores: tuple[float, ...]
    pairs: tuple[tuple[str, str], ...]
    unscored: int


def read_data_sets(paths: Iterable[str | Path], language: str = "en") -> list[DataSet]:
    """Read all data sets in some files and folders, sorted by name.

    Args:
        paths: files, and folders, which are searched with all folders inside.
        language: of the sentences; tracks of SemEval 2017 in other languages are left out.

    Raises:
        InputError: a path is missing or has no data set; or a file is not what its name says, or
            none of its pairs has a score.
    """
    sets: dict[str, DataSet] = {}
    places: dict[str, Path] = {}
    for path in map(Path, paths):
        files = list(_files(path))
        known = 0
        for file in files:
            for data_set in _read(file, files, path, language):
                known += 1
                if not data_set.scores:
                    raise InputError(
                        f"{file}: no pair of the data set {data_set.name} has a score; take it "
                        "away, or add the scores"
                    )
                _check_name(data_set.name, file, places)
                sets[data_set.name] = data_set
        if not known:
            raise InputError(f"{path}: no STS data set in it; docs/embed.md says which are known")
    return [sets[name] for name in sorted(sets)]


def reported_and_development(
    data_sets: Iterable[DataSet], development: Iterable[str]
) -> tuple[list[DataSet], list[DataSet]]:
    """Return the data sets that are reported, and those for development.

    Raises:
        InputError: a name is of none of them.
    """
    sets, names = list(data_sets), set(development)
    known = {name for data_set in sets for name in (data_set.name, data_set.group)}
    if unknown := sorted(names - known):
        raise InputError(
            f"sts.development: no data set and no group of sts.data is called "
            f"{' or '.join(unknown)}; there are: {', '.join(sorted(known)) or 'none'}"
        )
    chosen = [data_set for data_set in sets if {data_set.name, data_set.group} & names]
    return [data_set for data_set in sets if data_set not in chosen], chosen


def missing(data_sets: Iterable[DataSet]) -> list[str]:
    """Return the names of the papers' data sets that `data_sets` lack."""
    names = {data_set.name for data_set in data_sets}
    known = (f"{group}.{name}" for group, members in KNOWN.items() for name in members)
    return [name for name in known if name not in names]


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    if not path.is_dir():
        raise InputError(f"{path}: no such file or folder of STS data; correct the path")
    for folder, _, names in sorted(os.walk(path)):
        yield from (Path(folder, name) for name in sorted(names))


def _check_name(name: str, file: Path, places: dict[str, Path]) -> None:
    if name in RESERVED:
        raise InputError(f"{file}: a data set can't be called '{name}'; rename the file")
    if name in places:
        raise InputError(
            f"{places[name]} and {file} are both the data set {name}; take one away, or put the "
            "year into the name of its folder"
        )
    places[name] = file


def _read(file: Path, files: list[Path], path: Path, language: str) -> Iterator[DataSet]:
    """Yield the data sets of a file; none if it is of no known kind.

    Args:
        file: the file.
        files: all files that were found with it.
        path: the file or folder where they were found.
        language: of the sentences.
    """
    semeval, benchmark = _SEMEVAL.fullmatch(file.name), _BENCHMARK.fullmatch(file.name)
    if semeval and semeval["kind"] == "input":
        yield from _semeval(file, semeval, files, path, language)
    elif benchmark:
        lines = _columns(file, 7)
        pairs = [(_score(file, n, row[4]), row[5], row[6]) for n, row in lines]
        yield _data_set("stsbenchmark", benchmark["part"], pairs)
    elif _SICK.fullmatch(file.name):
        yield from _sick(file)
    elif file.suffix == ".data":
        pairs = [(_votes(file, n, row[4]), row[2], row[3]) for n, row in _columns(file, 5)]
        yield _data_set("twitter", file.stem, pairs)
    elif file.suffix == ".tsv":
        pairs = [(_score(file, n, row[0]), row[1], row[2]) for n, row in _columns(file, 3)]
        yield _data_set(file.stem, None, pairs)


def _data_set(group: str, part: str | None, pairs: Iterable[Scored]) -> DataSet:
    rows = list(pairs)
    scored = [row for row in rows if row[0] is not None]
    return DataSet(
        group=group,
        name=group if part is None else f"{group}.{part}",
        scores=tuple(score for score, _, _ in scored if score is not None),
        pairs=tuple((first, second) for _, first, second in scored),
        unscored=len(rows) - len(scored),
    )


def _lines(file: Path) -> list[str]:
    """Return the lines of a file; only a line feed ends a line."""
    lines = []
    for number, line in enumerate(read_lines(file, _MOST_BYTES), 1):
        if len(line) > _MOST_BYTES:
            raise InputError(f"{file}, line {number}: more than {_MOST_BYTES} bytes; remove it")
        try:
            lines.append(line.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise InputError(
                f"{file}, line {number}: can't be read as UTF-8 ({error}); convert the file"
            ) from error
    return lines


def _columns(file: Path, least: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the columns of each line; tabs separate columns."""
    for number, row in fields(file, _lines(file)):
        if len(row) < least:
            raise InputError(
                f"{file}, line {number}: {len(row)} columns where at least {least} belong, with "
                "tabs between them"
            )
        yield number, [column.strip() for column in row]


def _score(file: Path, number: int, text: str) -> float | None:
    if not text.strip():
        return None
    try:
        return finite(text)
    except ValueError as error:
        raise InputError(
            f"{file}, line {number}: '{text[:100]}' is no score; correct it, or leave it blank "
            "where there is none"
        ) from error


def _votes(file: Path, number: int, text: str) -> float | None:
    """Return how many of five people said yes: the first of two counts, or a single number."""
    votes = _VOTES.fullmatch(text)
    return _score(file, number, votes[1] if votes else text)


def _semeval(
    file: Path, match: re.Match[str], files: list[Path], path: Path, language: str
) -> Iterator[DataSet]:
    name = match["name"]
    languages = _LANGUAGES.search(name)
    if languages and set(languages.groups()) != {language}:
        return
    group = _group(file, match, path)
    gold = _gold(file, name, group, files, path)
    if gold is None:
        raise InputError(f"{file}: there is no file of its scores, STS.gs.{name}.txt, with it")
    inputs = [(row[0], row[1]) for _, row in _columns(file, 2)]
    scores = [_score(gold, n, row[0]) for n, row in fields(gold, _lines(gold))]
    if len(inputs) != len(scores):
        raise InputError(
            f"{file} has {len(inputs)} lines, {gold} has {len(scores)}; they do not belong together"
        )
    rows = zip(scores, inputs, strict=True)
    yield _data_set(group, name, ((score, *pair) for score, pair in rows))


def _group(file: Path, match: re.Match[str], path: Path) -> str:
    """Return the year, from the file's name or that of the nearest folder that has one.

    Folders above `path` (of a single file: above its folder) do not count: a home may be `user12`.
    """
    if match["year"]:
        return match["year"]
    if match["name"].startswith("track"):
        return "2017"
    top = path.absolute() if path.is_dir() else path.absolute().parent
    for folder in file.absolute().parents:
        if year := _YEAR.search(folder.name):
            return f"20{year[1]}"
        if folder == top:
            break
    return file.absolute().parent.name


def _gold(file: Path, name: str, group: str, files: list[Path], path: Path) -> Path | None:
    """Return the file of the gold scores of an input file: the nearest one of that name.

    Of those that are equally near it is the one of the same year.
    """

    def distance(other: Path) -> int:
        shared = zip(file.parent.parts, other.parent.parts, strict=False)
        return -sum(1 for _ in takewhile(lambda both: both[0] == both[1], shared))

    candidates = [
        ((distance(other), _group(other, match, path) != group), other)
        for other in files
        if (match := _SEMEVAL.fullmatch(other.name))
        and match["kind"] == "gs"
        and match["name"] == name
    ]
    return min(candidates, key=itemgetter(0), default=(None, None))[1]


def _sick(file: Path) -> Iterator[DataSet]:
    rows = list(_columns(file, 1))
    header = rows[0][1] if rows else []
    needed = ("sentence_A", "sentence_B", "relatedness_score")
    if not set(needed) <= set(header):
        raise InputError(f"{file}: its first line does not name the columns {', '.join(needed)}")
    first, second, score = (header.index(name) for name in needed)
    own = re.search(r"train|trial|test", file.stem.lower())
    parts: dict[str, list[Scored]] = {}
    for number, row in rows[1:]:
        if len(row) != len(header):
            raise InputError(
                f"{file}, line {number}: {len(row)} columns where {len(header)} belong"
            )
        if "SemEval_set" in header:
            part = row[header.index("SemEval_set")].lower()
        else:
            part = own[0] if own else "all"
        scored = (_score(file, number, row[score]), row[first], row[second])
        parts.setdefault(part, []).append(scored)
    for part in sorted(parts):
        yield _data_set("sick", part, parts[part])
