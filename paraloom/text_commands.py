"""The subcommands on text: `paraphrase`, `translate`, `score` and `judge`.

They read files or the standard input, and answer as lines come. See docs/command.md.
"""

import argparse
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from paraloom.answer_lines import WRITTEN, Answer, LineWriter
from paraloom.answers import Paraphrases, Translations
from paraloom.commands import NAME, below
from paraloom.requests import ArgumentError, Request, asked, require_count, require_samples
from paraloom.rows import READ, STANDARD, Columns, Row, kind_of, opened
from workflow_scripts.core.cli import CommandParser, positive
from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.rewrite.requests import RequestError, clean
from workflow_scripts.stages.rewrite.spellings import plain
from workflow_scripts.stages.rewrite.waiting import BATCH, waiting

# Those of nmt.precision, which loads torch.
PRECISIONS = ("int8", "bf16", "fp32")


class Answered(NamedTuple):
    """The answers to a row, why they are fewer than asked for, and which words none can say."""

    answers: Sequence[Answer]
    why: str | None
    unknown: Sequence[str] = ()


# A row with what it asks for.
Asked = tuple[Row, Any]
# The texts of a row, cleaned, and why they can't be worked on.
Texts = tuple[list[str], str | None]
_WISHES = Columns(("text",), lists=("keep", "avoid"), numbers=("n", "at_least"), others=("source",))


def paraphrase() -> None:
    """Paraphrase sentences: there and back by translation models, best first as a judge says."""
    parser = _parser(paraphrase, "keep, avoid (lists), n, at_least, source (a translation)")
    add = parser.add_argument
    add("--language", default="en", help="of the texts (en)")
    add(
        "--there",
        type=_model,
        metavar="MODEL",
        help="model that translates from it (that of make setup)",
    )
    add(
        "--back",
        type=_model,
        metavar="MODEL",
        help="model that translates back (that of make setup)",
    )
    add("--judge", default="default", metavar="FOLDER", help="judge.json; none: no judge (default)")
    _add_wishes(parser, 5, "paraphrases")
    says = "probability of each, 0 for all (that of the system paraloom; 0 without labels)"
    add("--at-least", type=float, metavar="P", help=says)
    _add_machine(parser)
    arguments = _parsed(parser)
    defaults = _wishes(parser, arguments)
    if arguments.judge == "none" and defaults.at_least:
        parser.error("--at-least needs a judge; leave it out, or --judge none")
    from paraloom.paraphraser import Paraphraser  # slow: torch

    paraphraser = Paraphraser(
        arguments.language,
        arguments.there,
        arguments.back,
        None if arguments.judge == "none" else arguments.judge,
        precision=arguments.precision,
        device=arguments.device,
        threads=arguments.threads,
    )

    columns = ("text", "probability", "score", "source")
    writer = LineWriter(arguments.to, "paraphrase", columns, arguments.number > 1)
    ask = partial(_request, defaults=defaults)
    _answer(arguments, _WISHES, ask, lambda requests: map(_found, paraphraser(requests)), writer)


def translate() -> None:
    """Translate sentences, by beam search or samples."""
    parser = _parser(translate, "keep, avoid (lists), n")
    add = parser.add_argument
    _add_model(parser)
    _add_wishes(parser, 1, "translations")
    add("--beam", type=int, default=5, help="hypotheses of a sentence (5)")
    add("--samples", type=int, metavar="N", help="draw so many; no beam search")
    _add_machine(parser)
    add("--seed", type=int, default=1, help="of samples (1)")
    arguments = _parsed(parser)
    defaults = _wishes(parser, arguments)
    with _as_usage(parser):
        require_count("beam", arguments.beam)
        require_samples(arguments.samples, arguments.keep)
    from paraloom.translator import Translator  # slow: torch

    translator = Translator(
        arguments.model, arguments.precision, arguments.device, arguments.seed, arguments.threads
    )

    def answered(requests: list[Request]) -> Iterator[Answered]:
        number, beam, samples = arguments.number, arguments.beam, arguments.samples
        return map(_found, translator.translate(requests, number, beam, samples))

    known = Columns(_WISHES.texts, _WISHES.lists, ("n",))
    writer = LineWriter(arguments.to, "translation", ("text", "nll"), arguments.number > 1)
    _answer(arguments, known, partial(_request, defaults=defaults), answered, writer)


def score() -> None:
    """Tell how unlikely a model finds given translations, in nats per token; lower is better."""
    parser = _parser(score, None)
    _add_model(parser)
    _add_machine(parser)
    arguments = _parsed(parser)
    from paraloom import models  # slow: torch
    from paraloom.scoring import nlls
    from paraloom.threads import Threads

    loaded = models.load(arguments.model, arguments.device, arguments.precision)
    values = partial(nlls, loaded, Threads(arguments.threads), BATCH)
    known = Columns(("source", "target"))
    writer = LineWriter(arguments.to, "score", ("nll",), False)
    answered = partial(_valued, name="nll", values=values)
    _answer(arguments, known, partial(_texts, names=known.texts), answered, writer)


def judge() -> None:
    """Tell how probable it is that paraphrases are good; higher is better."""
    subcommands = ", ".join(
        f"{NAME} judge {name} ({each.help})" for name, each in below("judge").items()
    )
    parser = _parser(judge, None, f"Besides: {subcommands}.")
    parser.add_argument(
        "--judge", default="default", metavar="FOLDER", help="judge.json (the one of the language)"
    )
    parser.add_argument("--language", default="en", help="of the texts (en)")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    _add_threads(parser)
    arguments = _parsed(parser)
    from paraloom.judging import ReadyJudge  # slow: torch
    from paraloom.threads import Threads
    from workflow_scripts.stages.judge.known_pairs import Pairs

    threads = Threads(arguments.threads)
    ready = ReadyJudge(arguments.judge, arguments.language, None, arguments.device)

    def probabilities(texts: list[list[str]]) -> Iterator[float]:
        pairs = Pairs([left for left, _ in texts], [right for _, right in texts])
        return iter(ready.probabilities(pairs, threads.side_by_side))

    known = Columns(("reference", "paraphrase"))
    writer = LineWriter(arguments.to, "judgment", ("probability",), False)
    answered = partial(_valued, name="probability", values=probabilities)
    _answer(arguments, known, partial(_texts, names=known.texts), answered, writer)


# --- options ---------------------------------------------------------------------------------


def _parser(
    main: Callable[[], None], wishes: str | None, epilog: str | None = None
) -> argparse.ArgumentParser:
    parser = CommandParser(description=main.__doc__, epilog=epilog)
    parser.add_argument(
        "files", nargs="*", type=Path, metavar="FILE", help="- is the standard input (default)"
    )
    told = f"; other columns of a table: {wishes}" if wishes else ""
    parser.add_argument(
        "--from", dest="form", choices=READ, help=f"what they are (by their names, else text){told}"
    )
    parser.add_argument("--to", choices=WRITTEN, default="text", help="what is written (text)")
    parser.set_defaults(parser=parser)
    return parser


def _parsed(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Return the options; models are not loaded for files that are not there.

    Raises:
        InputError: there is no such file, or it is of a form that is not read; or the standard
            input is to be read, and closed.
    """
    arguments = parser.parse_args()
    arguments.files = arguments.files or [STANDARD]
    if arguments.files.count(STANDARD) > 1:
        parser.error("- stands there twice, and can be read once; take one out")
    if STANDARD in arguments.files and sys.stdin is None:
        raise InputError("the standard input is closed; name a file")
    for path in arguments.files:
        if path != STANDARD and not path.exists():
            raise InputError(f"{path}: no such file")
        if arguments.form is None:
            kind_of(path)
    return arguments


def _add_wishes(parser: argparse.ArgumentParser, number: int, what: str) -> None:
    add = parser.add_argument
    add(
        "-n", dest="number", type=int, default=number, help=f"{what} of each, best first ({number})"
    )
    for option, says in (("--keep", "each must have it"), ("--avoid", "none may have it")):
        add(option, action="append", default=[], metavar="WORD", help=f"{says}; may be repeated")


def _add_model(parser: argparse.ArgumentParser) -> None:
    says = "a name of recipes/models, or a folder"
    parser.add_argument("--model", type=_model, required=True, help=says)


def _add_machine(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--precision", choices=PRECISIONS, default="int8", help="of models (int8)")
    add("--device", choices=("auto", "cpu", "cuda"), help="(cpu for int8, else auto)")
    _add_threads(parser)


def _add_threads(parser: argparse.ArgumentParser) -> None:
    says = "of batches side by side, for many texts on idle cores (1)"
    parser.add_argument("--threads", type=positive, default=1, metavar="N", help=says)


def _wishes(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> Request:
    """Return what the options wish of every text; what can't be is a wrong command line."""
    with _as_usage(parser):
        at_least = vars(arguments).get("at_least")
        return Request("", None, arguments.number, arguments.keep, arguments.avoid, at_least)


@contextmanager
def _as_usage(parser: argparse.ArgumentParser) -> Iterator[None]:
    """Make of an argument that can't be a wrong command line."""
    try:
        yield
    except ArgumentError as error:
        parser.error(str(error))


def _model(text: str) -> str:
    """Return the name or folder of a model."""
    if not text:
        raise argparse.ArgumentTypeError("an empty name; is a variable of the shell not set?")
    return text


# --- work ------------------------------------------------------------------------------------


def _request(row: Row, defaults: Request) -> Request:
    """Return what a row asks for, besides what the options ask of all."""
    try:
        return asked(Request(**row.known), defaults)
    except ArgumentError as error:
        raise InputError(f"{row.place}: {error}") from error


def _found(answers: Paraphrases | Translations) -> Answered:
    return Answered([asdict(each) for each in answers], answers.why, answers.unknown)


def _texts(row: Row, names: Sequence[str]) -> Texts:
    """Return the texts of a row, cleaned, and why they can't be worked on."""
    try:
        texts = [clean(row.known[name]) for name in names]
    except RequestError as error:
        return [], str(error)
    return texts, None if all(plain(text).strip() for text in texts) else "a text is empty"


def _valued(
    asked: list[Texts], name: str, values: Callable[[list[list[str]]], Iterator[float]]
) -> Iterator[Answered]:
    """Yield the value of the texts of each row, and why it has none.

    Args:
        asked: of each row.
        name: of the value.
        values: gives those of texts that can be worked on, in order; not finite: they are too long.
    """
    found = values([texts for texts, why in asked if why is None])
    for _, why in asked:
        value = next(found) if why is None else None
        if value is not None and not math.isfinite(value):
            value, why = None, "a text is too long for the model"
        yield Answered([{name: value}], why)


def _batches(rows: Iterable[Asked], size: int) -> Iterator[list[Asked]]:
    """Yield rows in full batches; what stands before a row that can't be read comes first."""
    batch: list[Asked] = []
    try:
        for row in rows:
            batch.append(row)
            if len(batch) == size:
                yield batch
                batch = []
    except InputError:
        if batch:
            yield batch
        raise
    if batch:
        yield batch


def _answer(
    arguments: argparse.Namespace,
    columns: Columns,
    ask: Callable[[Row], Any],
    answered: Callable[[list[Any]], Iterator[Answered]],
    writer: LineWriter,
) -> None:
    """Answer all rows; say on stderr which have no answer, or one to a part of the text alone.

    Raises:
        InputError: a file, or a row of it, is not as it should be.
    """
    paths = arguments.files
    if STANDARD in paths and sys.stdin.isatty():
        print("note: type lines; Ctrl-D ends them", file=sys.stderr)
    with _as_usage(arguments.parser):
        tables = [opened(path, arguments.form, columns, writer.names) for path in paths]
    header = {name for table in tables for name in table.header}
    writer.begin(tables, "n" in header.intersection(columns.numbers))
    rows = ((row, ask(row)) for table in tables for row in table.rows)
    # Whoever types or pipes lines need not wait until a batch is full; files make the same batches
    # each time.
    size = BATCH * arguments.threads
    batches = waiting(rows, size) if STANDARD in paths else _batches(rows, size)
    # Answers on a terminal are its progress.
    quiet = True if sys.stdout.isatty() else None
    total = none = 0
    with tqdm(desc=sys.argv[0], unit=" texts", disable=quiet) as shown:
        for batch in batches:
            found = answered([asked for _, asked in batch])
            for (row, _), (answers, why, unknown) in zip(batch, found, strict=True):
                lost = [f"unknown: the model can't read {', '.join(unknown)}"] if unknown else []
                told = "; ".join([why, *lost] if why else lost) or None
                writer.write(row, answers, told)
                total += 1
                silent = why is not None and not any(map(writer.tells, answers))
                none += silent
                if silent or lost:
                    tqdm.write(f"{row.place}: {told}", file=sys.stderr)
                shown.update()
    if none:
        print(f"{none:,} of {total:,} texts have no answer", file=sys.stderr)
