"""Translates JSON lines by beam search, with lexical constraints, or by truncated sampling.

Every input line is an object in Sockeye's form: `text`, and optionally `constraints` (phrases
that must appear), `avoid` (phrases that must not), `id` (default: the line number) and `set`
(default: 0), which choose the random numbers of samples. Texts are pieces with blanks between, or
plain text with --raw. A phrase that begins with `<s>` is tied to the sentence start. Any other key
is an error, but those of the output, which are replaced.

Every output line repeats its input and adds `translation` and `score` (null where there is
none), with --nbest or samples also `translations` and `scores`, with samples `dropped`, and
`unmet` where constraints could not be satisfied. Scores are NLLs in nats per token, </s>
included; lower is better.
"""

import argparse
import json
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from workflow_scripts.core.cli import CommandParser, run
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import atomic_path
from workflow_scripts.core.files.json_text import KeyTwiceError, parse_json
from workflow_scripts.core.files.lines import read_lines
from workflow_scripts.core.suggestion import suggestion
from workflow_scripts.nmt.automaton import Phrase
from workflow_scripts.nmt.beam import BeamRequest, BeamResult, translate
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.pieces import TextCoder
from workflow_scripts.nmt.positive import MOST_PHRASES, resolve
from workflow_scripts.nmt.precision import PRECISIONS
from workflow_scripts.nmt.raw import add_text_options, coders, forbidden, wanted, whole_words
from workflow_scripts.nmt.sampling import SampleRequest, SampleResult, sample
from workflow_scripts.nmt.vocabulary import BOS

BEAM_DEFAULTS: dict[str, float] = {"beam_size": 5, "nbest": 1}
KEYS = ("text", "constraints", "avoid", "id", "set")
# What the output lines add. An input line may have them: it may be an output line itself.
ADDED_KEYS = ("translation", "score", "translations", "scores", "dropped", "unmet")
SAMPLE_DEFAULTS: dict[str, float] = {"samples": 1, "seed": 1, "temperature": 1.0}
# Any of these options means sampling. By the argument of `sample` that each one sets.
TRUNCATIONS = {"k": "sample", "top_p": "top_p", "min_p": "min_p", "epsilon": "epsilon"}


@dataclass(frozen=True)
class InputLine:
    """A line of the input: those of its fields that are in `KEYS`, and what they mean."""

    fields: dict[str, Any]
    id: str
    set: int
    source: list[int]
    constraints: list[Phrase]
    avoid: list[Phrase]
    whole_words: bool


class LineReader:
    """Reads the lines of a JSON file for one model, `for_samples` or for beam search."""

    def __init__(
        self,
        model: Model,
        source_coder: TextCoder,
        target_coder: TextCoder,
        *,
        for_samples: bool = False,
    ):
        self._model = model
        self._for_samples = for_samples
        self._source_coder = source_coder
        self._target_coder = target_coder
        # The same words are often avoided in many lines.
        self._forbidden = lru_cache(maxsize=4096)(partial(forbidden, target_coder))

    def read(self, path: Path) -> Iterator[InputLine]:
        """Yield the lines of a file.

        Raises:
            InputError: a line is not valid; the message has its number.
        """
        for number, line in enumerate(read_lines(path), start=1):
            try:
                yield self._parse(number, line)
            except InputError as error:
                raise InputError(f"{path}, line {number}: {error}") from error

    def _parse(self, number: int, line: str) -> InputLine:
        try:
            fields = parse_json(line)
            json.dumps(fields, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError as error:
            raise InputError("half of a surrogate pair (\\ud800 to \\udfff) is no text") from error
        except KeyTwiceError as error:
            raise InputError(str(error)) from error
        except (ValueError, RecursionError) as error:
            raise InputError(f"no JSON: {error}") from error
        for key in fields if isinstance(fields, dict) else ():
            if key not in (*KEYS, *ADDED_KEYS):
                raise InputError(f"unknown key {key!r}{suggestion(key, list(KEYS))}")
        if not isinstance(fields, dict) or not isinstance(fields.get("text"), str):
            raise InputError('must be an object with a string "text"')
        fields = {key: value for key, value in fields.items() if key in KEYS}
        name, set_number = fields.get("id", number), fields.get("set", 0)
        if not isinstance(name, str | int) or type(set_number) is not int:
            raise InputError('"id" must be a string or an integer, "set" an integer')
        source = self._source_coder.encode(fields["text"])
        if not self._model.can_read(source):
            limit = self._model.max_source_pieces
            raise InputError(f'"text" has {len(source)} pieces; the model takes 1 to {limit}')
        coder = self._target_coder
        constraint_texts = _phrases(fields, "constraints", coder)
        constraints = [wanted(coder, text) for text in constraint_texts]
        unwanted = {
            phrase: text
            for text in _phrases(fields, "avoid", coder)
            for phrase in self._forbidden(text)
        }
        if constraints and self._for_samples:
            raise InputError('samples cannot have "constraints"; use beam search')
        if len(constraints) > MOST_PHRASES:
            raise InputError(f'{len(constraints)} "constraints", at most {MOST_PHRASES} can be met')
        avoid, overruled = resolve(constraints, list(unwanted))
        for text in dict.fromkeys(unwanted[phrase] for phrase in overruled):
            print(
                f"warning: line {number}: {text!r} is avoided and wanted; it is wanted",
                file=sys.stderr,
            )
        whole = whole_words(coder, constraint_texts)
        return InputLine(fields, str(name), set_number, source, constraints, avoid, whole)


def _phrases(fields: dict[str, Any], key: str, coder: TextCoder) -> list[str]:
    texts = fields.get(key, [])
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise InputError(f'"{key}" must be a list of strings')
    if not all(set(wanted(coder, text)) - {BOS} for text in texts):
        raise InputError(f'"{key}" has an empty phrase')
    return texts


def beam_lines(
    lines: Iterable[InputLine],
    search: Callable[[Iterable[BeamRequest]], Iterator[BeamResult]],
    target_coder: TextCoder,
    with_list: bool,
) -> Iterator[dict[str, Any]]:
    """Yield the output lines of a beam search, with n-best lists if `with_list`."""
    waiting: deque[InputLine] = deque()

    def requests() -> Iterator[BeamRequest]:
        for line in lines:
            waiting.append(line)
            yield BeamRequest(line.source, line.constraints, line.avoid, line.whole_words)

    for result in search(requests()):
        line = waiting.popleft()
        added = _translations(result.outputs, result.nlls, target_coder, with_list)
        if result.unmet:
            wanted = zip(line.fields["constraints"], line.constraints, strict=True)
            added["unmet"] = [text for text, phrase in wanted if phrase in result.unmet]
        yield line.fields | added


def sample_lines(
    lines: Iterable[InputLine],
    search: Callable[[Iterable[SampleRequest]], Iterator[SampleResult]],
    target_coder: TextCoder,
) -> Iterator[dict[str, Any]]:
    """Yield the output lines of sampling; `translation` is the sample with the best score."""
    waiting: deque[InputLine] = deque()

    def requests() -> Iterator[SampleRequest]:
        for line in lines:
            waiting.append(line)
            yield SampleRequest(line.id, line.set, line.source, line.avoid)

    for result in search(requests()):
        added = _translations(result.outputs, result.nlls, target_coder, with_list=True)
        yield waiting.popleft().fields | added | {"dropped": result.dropped}


def _translations(
    outputs: list[list[int]], nlls: list[float], target_coder: TextCoder, with_list: bool
) -> dict[str, Any]:
    texts = [target_coder.decode(output) for output in outputs]
    score, translation = min(zip(nlls, texts, strict=True), default=(None, None))
    added: dict[str, Any] = {"translation": translation, "score": score}
    return added | ({"translations": texts, "scores": nlls} if with_list else {})


def write_lines(path: Path, lines: Iterable[dict[str, Any]]) -> None:
    """Write objects as JSON lines; the file appears when it is whole."""
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8") as output:
        for line in lines:
            output.write(json.dumps(line, ensure_ascii=False) + "\n")


def parse_arguments(argv: list[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = CommandParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, required=True, help="folder of a model")
    parser.add_argument("--input", type=Path, required=True, help="JSON lines")
    parser.add_argument("--output", type=Path, required=True, help="JSON lines")
    beam = parser.add_argument_group("beam search")
    beam.add_argument("--beam-size", type=int, help="default: 5")
    beam.add_argument("--nbest", type=int, help="default: 1, which writes no lists")
    sampling = parser.add_argument_group(
        "sampling", "done if one of the first four is given; they are applied in this order"
    )
    sampling.add_argument("--sample", type=int, metavar="K", help="draw from the best K tokens")
    sampling.add_argument(
        "--top-p", type=float, metavar="P", help="from the fewest best tokens of probability P"
    )
    sampling.add_argument(
        "--min-p", type=float, metavar="S", help="from tokens of the share S of the best one's"
    )
    sampling.add_argument(
        "--epsilon", type=float, metavar="E", help="from tokens of probability E or more"
    )
    sampling.add_argument("--samples", type=int, help="samples per line; default: 1")
    sampling.add_argument("--seed", type=int, help="default: 1")
    sampling.add_argument("--temperature", type=float, help="default: 1")
    parser.add_argument("--batch-rows", type=int, default=512, help="hypotheses at a time")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--precision", choices=tuple(PRECISIONS), default="fp32")
    parser.add_argument(
        "--shortlist", action="store_true", help="only pieces of the folder's lexical shortlist"
    )
    add_text_options(parser)
    arguments = parser.parse_args(argv)
    own, foreign = SAMPLE_DEFAULTS, BEAM_DEFAULTS
    if not truncation(arguments):
        own, foreign = foreign, own
    for name in foreign:
        if getattr(arguments, name) is not None:
            side = "without" if foreign is BEAM_DEFAULTS else "with one of"
            parser.error(
                f"--{name.replace('_', '-')} is used {side} --sample, --top-p, --min-p and "
                "--epsilon only"
            )
    for name, value in own.items():
        if getattr(arguments, name) is None:
            setattr(arguments, name, value)
    return arguments


def truncation(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of `sample` that truncate; none for beam search."""
    values = {name: getattr(arguments, option) for name, option in TRUNCATIONS.items()}
    return {name: value for name, value in values.items() if value is not None}


def main(argv: list[str] | None = None) -> None:
    """Parse the command line and translate."""
    arguments = parse_arguments(argv)
    model = load_model(
        arguments.model, arguments.device, arguments.precision, shortlist=arguments.shortlist
    )
    spm_models = arguments.spm_source, arguments.spm_target
    source, target = coders(model, arguments.model, arguments.raw, *spm_models)
    cut = truncation(arguments)
    for_samples = bool(cut)
    reader = LineReader(model, source, target, for_samples=for_samples)
    lines = reader.read(arguments.input)
    if for_samples:
        draw = partial(
            sample,
            model,
            **cut,
            samples=arguments.samples,
            seed=arguments.seed,
            temperature=arguments.temperature,
            batch_rows=arguments.batch_rows,
        )
        output = sample_lines(lines, draw, target)
    else:
        search = partial(
            translate,
            model,
            beam_size=arguments.beam_size,
            nbest=arguments.nbest,
            batch_rows=arguments.batch_rows,
        )
        output = beam_lines(lines, search, target, with_list=arguments.nbest > 1)
    write_lines(arguments.output, output)


if __name__ == "__main__":
    run(main)
