"""`paraloom run`: Snakemake with this workflow, its profile and the user's recipes."""

import argparse
import json
import os
import re
import sys
from pathlib import Path

from paraloom.place import WORKFLOW
from workflow_scripts.core.cli import CommandParser
from workflow_scripts.core.errors import InputError

# With one of these Snakemake is told how many jobs it may run, or where.
_CORES = re.compile(r"--(cores|jobs|profile|workflow-profile|executor)$|-[cje]")
_PROFILES = ("--workflow-profile", "--profile")
# Also with a first value in the same word.
_CONFIG = re.compile("(--config|-C)(?:=|(?<=-C)|$)(.*)")
_OURS = ("--configfile", "--configfiles", "--snakefile", "-s")


def main() -> int | None:
    """Run the workflow: without a recipe the demo; whatever stands behind -- is for Snakemake."""
    words = sys.argv[1:]
    ours, theirs = words, list[str]()
    if "--" in words:
        at = words.index("--")
        ours, theirs = words[:at], words[at + 1 :]
    parser = CommandParser(
        usage=f"{sys.argv[0]} [--brief] [RECIPE ...] [-- OPTIONS AND TARGETS OF SNAKEMAKE]",
        description=main.__doc__,
        epilog="Without --cores all cores are used. The exit status is Snakemake's.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "recipes", nargs="*", type=Path, metavar="RECIPE", help="YAML files; a later one goes first"
    )
    parser.add_argument(
        "--brief", action="store_true", help="a line for each stage in place of Snakemake's lines"
    )
    found, unknown = parser.parse_known_args(ours)
    if unknown:
        parser.error(f"{unknown[0]} stands before --; Snakemake's options stand behind it")
    for word in theirs:
        if word.partition("=")[0] in _OURS:
            parser.error(f"{word} stands behind --; recipes stand before it")
    recipes = [_found(recipe) for recipe in found.recipes]
    # Jobs start `python`: it is the one that has the packages.
    os.environ["PATH"] = os.pathsep.join(
        [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
    )
    sys.stdout.flush()
    if found.brief:
        from paraloom.screen import watch

        return watch(command(recipes, theirs))
    # In place of this process: signals reach it, and its status is that of the command.
    os.execv(sys.executable, command(recipes, theirs))


def _found(recipe: Path) -> Path:
    """Return where a recipe is: here, or among those of the workflow.

    Raises:
        InputError: it is at neither place.
    """
    for path in (recipe, WORKFLOW / recipe):
        if path.is_file():
            return path
    raise InputError(
        f"{recipe}: no such file, nor is it in {WORKFLOW}; a recipe is a YAML file (README.md)"
    )


def command(recipes: list[Path], words: list[str]) -> list[str]:
    """Return the command line of Snakemake.

    Args:
        recipes: the user's configuration, in order; none for the demo.
        words: the user's options and targets, which go before ours.
    """
    told = {word.partition("=")[0] for word in words}
    line = [sys.executable, "-P", "-m", "snakemake"]
    # First, as these take all names that follow.
    if recipes:
        line += ["--configfile", *map(str, recipes)]
    else:
        # The demo's sentences lie beside the Snakefile. Of two --config the last one counts.
        data = f"data={json.dumps(str(WORKFLOW))}"
        found = ((at, _CONFIG.fullmatch(word)) for at, word in enumerate(words))
        at, told_there = next((each for each in found if each[1]), (len(words), None))
        if told_there is None:
            line += ["--config", data]
        elif value := told_there[2]:  # it takes no more words, so that targets may follow
            line += ["--config", data, value]
            words = words[:at] + words[at + 1 :]
        else:
            words = [*words[: at + 1], data, *words[at + 1 :]]
    line += ["--snakefile", str(WORKFLOW / "Snakefile")]
    if not told.intersection(_PROFILES):
        line += ["--workflow-profile", str(WORKFLOW / "profiles" / "default")]
    if not any(map(_CORES.match, told)):
        line += ["--cores", "all"]
    return [*line, *words]
