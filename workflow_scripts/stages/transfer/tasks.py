"""The transfer tasks of SentEval, and where each has its files (docs/transfer.md).

The Snakefile imports this module: only the standard library.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from workflow_scripts.core.errors import InputError

# How a task is divided, as SentEval's three classifiers and its model of relatedness are.
FOLDS = "folds"  # one part `all`: ten folds are tested, each with ten inner folds
TRAIN_TEST = "train_test"  # `train` and `test`: cross-validation on train
SPLIT = "split"  # `train`, `dev` and `test`
RELATEDNESS = "relatedness"  # the same, with grades from 1 to 5 in place of classes

# The forms of files.
LINES = "lines"  # one sentence a line, one file for each class
LABEL_LAST = "label_last"  # sentence, tab, class
LABEL_FIRST = "label_first"  # class, blank, sentence
QUESTIONS = "questions"  # CLASS:subclass, blank, sentence
SICK = "sick"  # columns with tabs between them: number, sentence, sentence, grade, judgment
MRPC = "mrpc"  # the same: class, number, number, sentence, sentence


class Task(NamedTuple):
    """A task.

    Attributes:
        name: as in tables.
        title: what its classes are, in words.
        folder: in SentEval's layout.
        files: file names by part; a part of the form `LINES` has one file for each class, from the
            last class to class 0, which is SentEval's order.
        form: of the files.
        kind: how it is divided and tested.
        classes: number of classes; of grades: the highest.
        pairs: whether a row has two sentences.
    """

    name: str
    title: str
    folder: str
    files: Mapping[str, tuple[str, ...]]
    form: str
    kind: str
    classes: int
    pairs: bool = False

    @property
    def test(self) -> str:
        """The part whose sentences are tested."""
        return "all" if self.kind == FOLDS else "test"


def _lines(name: str, title: str, *files: str) -> Task:
    return Task(name, title, name, {"all": files}, LINES, FOLDS, 2)


_SST = {part: (f"sentiment-{part}",) for part in ("train", "dev", "test")}
_SICK = {
    "train": ("SICK_train.txt",),
    "dev": ("SICK_trial.txt",),
    "test": ("SICK_test_annotated.txt",),
}
_TREC = {"train": ("train_5500.label",), "test": ("TREC_10.label",)}
_MRPC = {"train": ("msr_paraphrase_train.txt",), "test": ("msr_paraphrase_test.txt",)}

_TASKS = (
    _lines("MR", "films: praise or blame", "rt-polarity.pos", "rt-polarity.neg"),
    _lines("CR", "products: praise or blame", "custrev.pos", "custrev.neg"),
    _lines("SUBJ", "objective or subjective", "subj.objective", "subj.subjective"),
    _lines("MPQA", "phrases of opinion: good or bad", "mpqa.pos", "mpqa.neg"),
    Task("SST2", "films: praise or blame", "SST/binary", _SST, LABEL_LAST, SPLIT, 2),
    Task("SST5", "films: five degrees", "SST/fine", _SST, LABEL_FIRST, SPLIT, 5),
    Task("TREC", "what a question asks for", "TREC", _TREC, QUESTIONS, TRAIN_TEST, 6),
    Task("MRPC", "paraphrases or not", "MRPC", _MRPC, MRPC, TRAIN_TEST, 2, pairs=True),
    Task("SICK-R", "how related", "SICK", _SICK, SICK, RELATEDNESS, 5, pairs=True),
    Task("SICK-E", "entailed, contradicted, neither", "SICK", _SICK, SICK, SPLIT, 3, pairs=True),
)
TASKS = {task.name: task for task in _TASKS}


def found(folders: Iterable[str | Path]) -> dict[str, dict[str, list[Path]]]:
    """Return the files of each task that is there, by part.

    Args:
        folders: in SentEval's layout: its folder `downstream`, or one that holds this folder.

    Raises:
        InputError: a folder is missing, a task has only some of its files, or two folders have
            the same task.
    """
    tasks: dict[str, dict[str, list[Path]]] = {}
    for path in map(Path, folders):
        if not path.is_dir():
            raise InputError(f"transfer.data: {path}: no such folder; correct the path")
        root = path / "downstream" if (path / "downstream").is_dir() else path
        for task in _TASKS:
            files = {
                part: [root / task.folder / name for name in names]
                for part, names in task.files.items()
            }
            listed = [file for of_part in files.values() for file in of_part]
            absent = [file for file in listed if not file.is_file()]
            if len(absent) == len(listed):
                continue
            if absent:
                raise InputError(
                    f"transfer.data: {', '.join(map(str, absent))}: missing, and {task.name} has "
                    f"other files there; add what is missing, or take {root / task.folder} away"
                )
            if task.name in tasks:
                other = next(iter(tasks[task.name].values()))[0].parent
                raise InputError(
                    f"transfer.data: {other} and {root / task.folder} both have {task.name}; name "
                    "one of them"
                )
            tasks[task.name] = files
    return {name: tasks[name] for name in TASKS if name in tasks}


def chosen(
    folders: Iterable[str | Path], names: Iterable[str] | None
) -> dict[str, dict[str, list[Path]]]:
    """Return the files of the tasks that are tested, by part.

    Args:
        folders: see `found`.
        names: of tasks; None: those that are there.

    Raises:
        InputError: see `found`; or a named task is not there, or none is.
    """
    places = list(folders)
    there = found(places)
    if names is None:
        if not there:
            raise InputError(
                f"transfer.data: {', '.join(map(str, places))}: no transfer task in it; "
                "docs/transfer.md says which files each one has"
            )
        return there
    wanted = set(names)
    for name in sorted(wanted - there.keys()):
        task = TASKS[name]
        files = ", ".join(file for part in task.files.values() for file in part)
        raise InputError(
            f"transfer.tasks: {name} is in none of {', '.join(map(str, places))}; put {files} into "
            f"{task.folder} there, or take {name} out of transfer.tasks"
        )
    return {name: files for name, files in there.items() if name in wanted}


def missing(names: Iterable[str]) -> list[str]:
    """Return the tasks that `names` lack."""
    known = set(names)
    return [name for name in TASKS if name not in known]
