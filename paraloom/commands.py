"""The command `paraloom`: one door to everything that a person starts.

click finds the subcommand, and says what is wrong where there is none; the module of the subcommand
reads the rest. Not typer: that is one more package, on top of click, and reads a command from the
annotations of a function, while these modules have their parsers already.

A module is imported when its subcommand is started: help costs no package of a stage.
"""

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import click

from workflow_scripts.core.cli import run
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.suggestion import suggestion
from workflow_scripts.core.version import version

NAME = "paraloom"
# What a command ends with where the input is at fault; click's usage errors end with 2.
INPUT_STATUS = 1
# A group that is a subcommand itself was called as such.
_ALONE = "paraloom.alone"
_TEXT = "paraloom.text_commands"


class Entry(NamedTuple):
    """A subcommand: the module whose `main` (or `:function`) it starts, and one line of help."""

    module: str
    help: str


# By their words. Those of one word stand in `paraloom --help`, a block for each of these dicts.
_OF_RUNS = {
    "run": Entry("paraloom.run", "make a corpus: run RECIPE... -- OPTIONS OF SNAKEMAKE"),
    "estimate": Entry("workflow_scripts.commands.estimate.__main__", "what a run will cost"),
    "status": Entry(
        "workflow_scripts.commands.status.__main__", "how far a run is, what failed and why"
    ),
    "runs": Entry(
        "workflow_scripts.commands.runs.__main__", "list, show, compare, collect, forget runs"
    ),
}
_OF_TEXT = {
    "paraphrase": Entry(f"{_TEXT}:paraphrase", "paraphrases of sentences, judged"),
    "translate": Entry(f"{_TEXT}:translate", "translations of sentences"),
    "score": Entry(f"{_TEXT}:score", "how unlikely given translations are"),
    "judge": Entry(f"{_TEXT}:judge", "how good given paraphrases are; fit a judge of your own"),
}
_OF_PEOPLE = {
    "annotate": Entry("workflow_scripts.apps.annotate.__main__", "a page on which people rate"),
    "ratings": Entry("workflow_scripts.stages.judge.ratings", "means of what they rated"),
    "serve": Entry("workflow_scripts.apps.rewriter.serve", "a page and an API that paraphrase"),
}
_OF_FILES = {
    "setup": Entry("paraloom.set_up", "install what a part needs: models, stages, Sockeye, KenLM"),
    "inspect": Entry("workflow_scripts.nmt.inspect", "what a model is, and whether it can be used"),
    "export": Entry("workflow_scripts.stages.release.export", "selected paraphrases as TSV"),
}
BLOCKS = (_OF_RUNS, _OF_TEXT, _OF_PEOPLE, _OF_FILES)
_IN_GROUPS = {
    "corpus pin": Entry(
        "workflow_scripts.stages.corpus.pin", "hashes of what corpora and models download"
    ),
    "judge fit": Entry("workflow_scripts.stages.judge.fit", "fit a judge to marks or ratings"),
    "judge score": Entry(
        "workflow_scripts.stages.judge.score", "judge files of pairs, with NLLs or models"
    ),
    "train parser": Entry(
        "workflow_scripts.stages.syntax.train", "train a parser of constituency trees"
    ),
    "train grammar": Entry(
        "workflow_scripts.stages.judge.grammar.train", "train the grammar model of a judge"
    ),
    "model translate": Entry(
        "workflow_scripts.nmt.translate", "translate JSON lines by any folder of a model"
    ),
    "model score": Entry(
        "workflow_scripts.nmt.score_pairs", "NLLs of given translations by such a model"
    ),
    "model convert": Entry(
        "workflow_scripts.stages.train.sockeye2_model", "convert a model of Sockeye 2"
    ),
    "rewriter paraphrase": Entry(
        "workflow_scripts.stages.rewrite.paraphrase", "paraphrase by a rewriter of a run"
    ),
    "rewriter export": Entry(
        "workflow_scripts.stages.rewrite.export_rewriter", "a rewriter as a folder to pass on"
    ),
    "rewriter repair": Entry(
        "workflow_scripts.stages.rewrite.repair", "measure how well a rewriter repairs"
    ),
    "encoder tune": Entry(
        "workflow_scripts.stages.encoder.tasks.tuning", "tune an encoder for a task"
    ),
    "encoder compare": Entry(
        "workflow_scripts.stages.encoder.tasks.comparison", "compare tuned encoders"
    ),
    "evaluate answers": Entry(
        "workflow_scripts.stages.evaluate.answers", "precision and recall of right answers"
    ),
    "evaluate diversity": Entry(
        "workflow_scripts.stages.evaluate.diversity", "diversity of paraphrases in files"
    ),
    "evaluate modified-bleu": Entry(
        "workflow_scripts.stages.evaluate.modified_bleu", "modified BLEU of paraphrases in files"
    ),
    "evaluate spread": Entry(
        "workflow_scripts.stages.evaluate.spread", "mean and spread of measures over runs"
    ),
    "evaluate parser": Entry("workflow_scripts.stages.syntax.check", "how often a parser is right"),
    "evaluate sts": Entry("workflow_scripts.stages.embed.sts", "an embedding on graded pairs"),
    "evaluate transfer": Entry(
        "workflow_scripts.stages.transfer.measure_model", "an embedding in the tasks of SentEval"
    ),
    "release summary": Entry(
        "workflow_scripts.stages.release.summary", "the figures of a finished run"
    ),
    "release datasheet": Entry(
        "workflow_scripts.stages.release.datasheet", "write the datasheet of a release"
    ),
    "release checksums": Entry(
        "workflow_scripts.stages.release.checksums", "write the checksums of a release"
    ),
    "release report": Entry(
        "workflow_scripts.stages.release.report", "write the HTML report of a release"
    ),
    "release tables": Entry(
        "workflow_scripts.stages.release.tables", "write the tables of a release"
    ),
    "testbed generate": Entry(
        "workflow_scripts.testbed.generate", "write a simulated bitext, whose meanings are known"
    ),
    "testbed check": Entry(
        "workflow_scripts.testbed.check_paraphrases", "whether paraphrases mean the same"
    ),
    "testbed graded": Entry(
        "workflow_scripts.testbed.graded", "pairs with the similarity of their meanings"
    ),
}
ENTRIES: dict[str, Entry] = {
    name: entry for block in (*BLOCKS, _IN_GROUPS) for name, entry in block.items()
}


# Groups, by the first words of their subcommands.
GROUPS = tuple(dict.fromkeys(name.split()[0] for name in _IN_GROUPS))


def below(group: str) -> dict[str, Entry]:
    """Return the subcommands of a group by their last word."""
    head = f"{group} "
    return {name.removeprefix(head): ENTRIES[name] for name in ENTRIES if name.startswith(head)}


def start(name: str, words: Sequence[str]) -> int | None:
    """Start a subcommand, whose usage and messages call it by its name; return its status.

    Raises:
        InputError: it needs a package that is not installed.
    """
    sys.argv = [f"{NAME} {name}", *words]
    module, _, function = ENTRIES[name].module.partition(":")
    try:
        status: int | None = getattr(import_module(module), function or "main")()
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] in (NAME, "workflow_scripts"):
            raise  # a fault of ours: no package that could be installed mends it
        raise InputError(
            f"{NAME} {name} needs the package {error.name}, which {sys.executable} lacks: "
            "paraloom setup, or make setup in a clone, installs it (README.md)"
        ) from error
    return status


class _Leaf(click.Command):
    """A subcommand; its module reads all words behind it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.args = args
        return args

    def invoke(self, ctx: click.Context) -> Callable[[], int | None]:
        return partial(start, str(self.name), ctx.args)


class _Group(click.Group):
    """The subcommands that begin with one word; the word alone may be one of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(below(str(self.name)))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = below(str(self.name)).get(cmd_name)
        return entry and _Leaf(f"{self.name} {cmd_name}", short_help=entry.help)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        first = args[0] if args else ""
        if self.name not in ENTRIES or first in below(str(self.name)):
            return super().parse_args(ctx, args)
        near = suggestion(first, list(below(self.name)))
        if near.endswith("?") and not Path(first).exists():
            ctx.fail(f"no file and no subcommand {first!r}{near}")
        ctx.args = args
        ctx.meta[_ALONE] = True
        return args

    def invoke(self, ctx: click.Context) -> Callable[[], int | None]:
        if ctx.meta.get(_ALONE):
            return partial(start, str(self.name), ctx.args)
        chosen: Callable[[], int | None] = super().invoke(ctx)
        return chosen

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if self.get_command(ctx, args[0]) is None:
            known = self.list_commands(ctx)
            ctx.fail(f"no subcommand {args[0]!r}{suggestion(args[0], known, 'subcommands')}")
        return super().resolve_command(ctx, args)


class _Door(_Group):
    """All subcommands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(dict.fromkeys(name.split()[0] for name in ENTRIES))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in GROUPS:
            return _Group(cmd_name, help=f"Subcommands of {NAME} {cmd_name}.")
        if cmd_name in self.list_commands(ctx):
            return _Leaf(cmd_name)
        return None

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(NAME, "[--version] SUBCOMMAND ...")
        width = max(len(name) for block in BLOCKS for name in block)
        for block in BLOCKS:
            lines = (f"  {name:{width}}  {entry.help}\n" for name, entry in block.items())
            formatter.write("\n" + "".join(lines))
        alone = [name for name in GROUPS if name not in ENTRIES]
        formatter.write("\n")
        formatter.write_text(f"Groups: {', '.join(alone)}.")
        formatter.write(f"{NAME} SUBCOMMAND --help says more of each, docs/command.md of all.\n")


def _chosen(words: Sequence[str] | None) -> int | None:
    """Do what a command line says; return its status.

    Raises:
        InputError: the standard output is closed.
    """
    # Else messages would go to the standard output.
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        raise InputError("the standard output is closed; send it to a file, or to /dev/null")
    told = click.version_option(version() or "unknown", message=f"{NAME} %(version)s")
    door = told(_Door("", context_settings={"help_option_names": ["-h", "--help"]}))
    try:
        with door.make_context(NAME, list(sys.argv[1:] if words is None else words)) as context:
            start_chosen = door.invoke(context)
    except click.exceptions.Exit as end:  # of help and version
        return end.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    return start_chosen()


def main(words: Sequence[str] | None = None) -> None:
    """Start the subcommand that a command line names, and exit with its status (docs/command.md).

    Args:
        words: of the command line, without the program; those of this process by default.
    """
    run(partial(_chosen, words), fault=INPUT_STATUS)
