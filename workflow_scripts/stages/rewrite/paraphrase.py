"""Paraphrase sentences, with words to avoid and words to use.

paraloom rewriter paraphrase --run NAME --avoid WORD --use WORD < sentences

See docs/rewriter-service.md.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import torch

from workflow_scripts.core.cli import CommandParser, count, run
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.lines import read_lines
from workflow_scripts.stages.rewrite.opening import add_options, open_rewriter
from workflow_scripts.stages.rewrite.request_lines import (
    FORMS,
    form_of,
    requests_of,
    standard_input,
)
from workflow_scripts.stages.rewrite.requests import Answer, Request, RequestError, request_of
from workflow_scripts.stages.rewrite.rewriter import Plan, Rewriter
from workflow_scripts.stages.rewrite.waiting import waiting

Line = tuple[int, Request]


def answered(rewriter: Rewriter, lines: Iterable[Line]) -> Iterator[tuple[int, Answer]]:
    """Yield the answers of lines with their numbers, in order.

    Raises:
        RequestError: a request can't be answered; the message has its line. The answers of the
            lines before have been yielded.
    """
    for batch in waiting(lines):
        plans: list[Plan] = []
        fault = None
        for number, request in batch:
            try:
                plans.append(rewriter.plan(request))
            except RequestError as error:
                fault = RequestError(f"line {number}: {error}")
                break
        numbers = [number for number, _ in batch]
        yield from zip(numbers, rewriter.answers(plans), strict=False)
        if fault:
            raise fault


def as_text(answer: Answer, several: bool) -> str:
    """Return the lines of an answer as plain text, with its end.

    One paraphrase on a line, which is empty where there is none. With `several` each line also
    has, before tabs, the sentence.
    """
    texts = [paraphrase.text for paraphrase in answer.paraphrases] or [""]
    head = f"{answer.request.text}\t" if several else ""
    return "".join(f"{head}{text}\n" for text in texts)


def main(argv: list[str] | None = None) -> None:
    """Paraphrase sentences, with words to avoid and words to use."""
    parser = CommandParser(description=main.__doc__)
    add = parser.add_argument
    add_options(parser)
    add("--input", type=Path, default=Path("-"), help="file of sentences; - is stdin (default)")
    add("--from", choices=FORMS, dest="form", help="what the input is (by its name, else text)")
    add("--to", choices=("jsonl", "text"), default="jsonl", help="what is written (jsonl)")
    add("--avoid", nargs="+", default=[], metavar="WORD", help="no paraphrase may have them")
    add("--avoid-forms", action="store_true", help="nor their inflections (English)")
    add("--avoid-pieces", action="store_true", help="the search knows all their ways in pieces")
    add("--use", nargs="+", default=[], metavar="WORD", help="every paraphrase must have them")
    add("--use-forms", action="store_true", help="in any inflection (English)")
    add("--template", help="the syntax that is wanted, one of the rewriter's templates")
    add("--number", type=int, default=1, metavar="N", help="of paraphrases, best first (1)")
    add("--samples", type=count, default=0, metavar="N", help="draw samples: no beam search")
    add("--system", metavar="NAME[:VARIANT]", help="a system of the run chooses the words")
    add("--seed", type=int, default=1, help="of samples, and of words drawn at random (1)")
    add("--threads", type=int, default=1)
    arguments = parser.parse_args(argv)
    names = ("avoid", "avoid_forms", "avoid_pieces", "use", "use_forms", "template", "number")
    defaults = {name: getattr(arguments, name) for name in (*names, "samples", "system", "seed")}
    try:
        request_of({"text": "a", **defaults})
    except RequestError as error:
        raise InputError(f"command line: {error}") from error
    if arguments.threads < 1:
        raise InputError("--threads must be above zero")
    torch.set_num_threads(arguments.threads)
    form = arguments.form or form_of(arguments.input.name)
    path = arguments.input
    lines = standard_input() if str(path) == "-" else read_lines(path)
    rewriter = open_rewriter(arguments)
    none = total = 0
    for number, answer in answered(rewriter, requests_of(lines, form, defaults)):
        total += 1
        if answer.unknown:
            print(f"line {number}: can't read {' '.join(answer.unknown)}", file=sys.stderr)
        if not answer.paraphrases:
            none += 1
            print(f"line {number}: {answer.why}", file=sys.stderr)
        if arguments.to == "jsonl":
            fields = {"line": number, **answer.fields()}
            print(json.dumps(fields, ensure_ascii=False), flush=True)
        else:
            several = max(answer.request.number, answer.request.samples) > 1
            print(as_text(answer, several), end="", flush=True)
    if none:
        print(f"{none:,} of {total:,} sentences have no paraphrase", file=sys.stderr)


if __name__ == "__main__":
    run(main)
