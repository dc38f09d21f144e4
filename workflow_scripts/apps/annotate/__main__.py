"""Serve a page on which people rate the paraphrases of a run, and export what they said.

paraloom annotate --run NAME

See docs/annotate.md.
"""

import argparse
import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tabulate import tabulate

from workflow_scripts.apps.annotate.answer_files import export, table_of_marks
from workflow_scripts.apps.annotate.items import (
    Material,
    Wanted,
    identity_of_file,
    language,
    of_file,
    of_run,
    run_systems,
    run_units,
)
from workflow_scripts.apps.annotate.modes import MODES, Mode
from workflow_scripts.apps.annotate.server import Campaign, application
from workflow_scripts.apps.annotate.store import Store, begun, create
from workflow_scripts.apps.web import serving
from workflow_scripts.apps.web.guard import LOOPBACK
from workflow_scripts.core.cli import CommandParser, count, run
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.space import is_full
from workflow_scripts.plan.run.run_folders import read_config, run_folder

# Below the working directory: the databases of its runs.
FOLDER = Path("ratings")
# Options that say which pairs of a run are rated.
OF_RUNS = ("references", "systems", "corpora", "best", "column")
# People who shall judge each paraphrase: ParaBank's (5.3), and one who labels alone.
JUDGMENTS: dict[Mode, int] = {"similarity": 3, "labels": 1, "strength": 1}
# ParaBank's published ratings have a control on a little more than a quarter of the pages.
CONTROLS = 4


def database_path(arguments: argparse.Namespace) -> Path:
    """Return the file of the campaign.

    Raises:
        InputError: nothing says which.
    """
    if arguments.database:
        return Path(arguments.database)
    if arguments.run:
        return FOLDER / f"{run_folder(arguments.run).name}-{arguments.mode}.sqlite"
    if arguments.pairs:
        return FOLDER / f"{arguments.pairs.stem}-{arguments.mode}.sqlite"
    raise InputError("name the pairs with --run or --pairs, or a campaign with --database")


def open_campaign(arguments: argparse.Namespace, path: Path) -> Store:
    """Return the campaign's database, which is made if it is not there.

    Raises:
        InputError: it is a campaign of other pairs.
    """
    if not (arguments.run or arguments.pairs):
        return Store(path)
    settings = _settings(arguments)
    if not begun(path):
        create(path, settings, _material(arguments))
    store = Store(path)
    stored = store.settings()
    changed = [name for name, value in settings.items() if stored.get(name) != value]
    if changed:
        options = ", ".join(f"{name} {stored.get(name)}" for name in changed)
        raise InputError(
            f"{path} is a campaign of other pairs: it was made with {options}; go on with those "
            "options, or name another --database for a new campaign"
        )
    return store


def _per_bin(arguments: argparse.Namespace) -> int | None:
    return arguments.per_bin if arguments.mode == "strength" else None


def _wanted(arguments: argparse.Namespace, folder: Path) -> Wanted:
    return Wanted(
        references=arguments.references,
        systems=run_systems(folder, arguments.systems),
        best=arguments.best,
        corpora=arguments.corpora,
        per_bin=_per_bin(arguments),
        column=arguments.column if arguments.mode == "strength" else None,
        seed=arguments.seed,
    )


def _settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what identifies the pairs of this campaign."""
    if arguments.pairs:
        return {
            "mode": arguments.mode,
            "pairs": identity_of_file(arguments.pairs),
            "per_bin": _per_bin(arguments),
            "seed": arguments.seed,
        }
    folder = run_folder(arguments.run)
    wanted = _wanted(arguments, folder)
    return {
        "mode": arguments.mode,
        **vars(wanted),
        "units": run_units(folder, wanted),
        "language": language(read_config(folder)),
    }


def _material(arguments: argparse.Namespace) -> Material:
    if arguments.pairs:
        return of_file(arguments.pairs, _per_bin(arguments), arguments.seed)
    folder = run_folder(arguments.run)
    return of_run(folder, _wanted(arguments, folder))


def write_export(store: Store, path: Path) -> None:
    """Write what people said so far, and tell how much.

    Raises:
        InputError: there is no answer yet, or the file can't be written.
    """
    mode, judged = store.settings()["mode"], store.judged()
    if path.is_dir():
        raise InputError(f"--export: {path} is a folder; name a file")
    try:
        rows = export(path, mode, judged)
    except OSError as error:
        if is_full(error):
            raise
        raise InputError(f"--export: {path} can't be written: {error.strerror}") from error
    people = len({judgement.annotator for judgement in judged})
    print(f"{path}: {rows:,} rows of {people:,} annotators")
    if mode == "strength":
        heads = ["paraphrase score", "pairs", *(f"paraphrase {n}" for n in (1, 2, 3))]
        heads += [f"fluency {n}" for n in (1, 2, 3)]
        print(tabulate(table_of_marks(judged), heads))


def serve(store: Store, arguments: argparse.Namespace) -> None:
    """Serve the pages until the process is told to end.

    Raises:
        InputError: the address can't be had, or it is open to others and no annotator is named.
    """
    if arguments.host not in LOOPBACK and not arguments.annotator:
        raise InputError(
            f"--host {arguments.host} lets others in: name each annotator with --annotator NAME; "
            "everyone gets a link with a secret, and only who has one sees the pages"
        )
    settings = store.settings()
    mode: Mode = settings["mode"]
    campaign = Campaign(
        store=store,
        mode=mode,
        title=arguments.title,
        language=settings.get("language"),
        wanted=arguments.judgments or JUDGMENTS[mode],
        controls=arguments.controls if mode == "similarity" else 0,
        seed=settings["seed"],
        by_name=not arguments.annotator,
    )
    listening = serving.listen(arguments.host, arguments.port)
    host = socket.gethostname() if arguments.host in ("0.0.0.0", "::") else arguments.host
    page = serving.address(host, listening)
    if campaign.by_name:
        print(page)
    for name in arguments.annotator:
        print(f"{name}\t{page}?{urlencode({'token': store.token(name)})}")
    print(f"Answers stand in {store.path}. End with Ctrl-C; go on by the same command.", flush=True)
    try:
        serving.serve(application(campaign), listening)
    finally:
        store.close()


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is below 1")
    return number


def main(argv: list[str] | None = None) -> None:
    """Serve a page on which people rate paraphrases, or export what they said."""
    parser = CommandParser(prog="paraloom annotate", description=main.__doc__)
    add = parser.add_argument
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--run", type=Path, help="name or folder of a run whose systems are rated")
    what.add_argument("--pairs", type=Path, help="pairs in a file instead (docs/annotate.md)")
    add(
        "--mode",
        choices=MODES,
        default=MODES[0],
        help="similarity: a slider and boxes (default); labels: good, acceptable or bad; "
        "strength: paraphrase and fluency from 1 to 3, by ranges of the paraphrase score",
    )
    add("--database", type=Path, help=f"the campaign's file ({FOLDER}/<name>-<mode>.sqlite)")
    add("--references", type=_positive, default=100, help="of the run, drawn (100)")
    add("--systems", nargs="+", help="of the run (all)")
    add("--corpora", nargs="+", help="of the references (all)")
    add("--best", type=_positive, help="the first so many paraphrases of each system (all)")
    add("--column", help="with --mode strength: the run's column that is the paraphrase score")
    add("--per-bin", type=_positive, default=100, help="with it: pairs of each range (100)")
    add("--seed", type=int, default=1, help="of the draws and orders (1)")
    add("--judgments", type=_positive, help="people for each paraphrase (3; other modes: 1)")
    add(
        "--controls",
        type=count,
        default=CONTROLS,
        help=f"one of so many pages of a person has a control; 0: none ({CONTROLS})",
    )
    serving.add_address(parser, 8008, "Rate paraphrases")
    add(
        "--annotator",
        action="append",
        default=[],
        metavar="NAME",
        help="let only named people in, each by a link of her own; may stand several times",
    )
    add("--export", type=Path, metavar="FILE", help="write what was said so far, and end")
    arguments = parser.parse_args(argv)
    path = database_path(arguments)
    if arguments.export:
        store = Store(path)
        write_export(store, arguments.export)
        store.close()
        return
    for name in () if arguments.run else OF_RUNS:
        if getattr(arguments, name) != parser.get_default(name):
            raise InputError(
                f"--{name} chooses pairs of a run; leave it out, or name one with --run"
            )
    if arguments.mode == "strength" and arguments.run and not arguments.column:
        raise InputError("--mode strength with --run: name the paraphrase score with --column")
    serve(open_campaign(arguments, path), arguments)


if __name__ == "__main__":
    run(main)
