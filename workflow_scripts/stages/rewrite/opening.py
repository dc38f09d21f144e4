"""Opening the rewriter of a run, or of a folder: its model, its language, its templates."""

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import verify
from workflow_scripts.core.files.model_folder import model_files
from workflow_scripts.core.files.rewriter_card import read_card
from workflow_scripts.core.suggestion import suggestion
from workflow_scripts.encoding.interface import Encoder
from workflow_scripts.encoding.sentence_vectors import encoder_folder, load_encoder
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.precision import PRECISIONS
from workflow_scripts.nmt.raw import coders
from workflow_scripts.plan.catalogues.pair_features import ENGLISH
from workflow_scripts.plan.config import Config
from workflow_scripts.plan.run.run_folders import link_name, read_config, run_folder
from workflow_scripts.stages.catalogue import run_layout
from workflow_scripts.stages.generate.constraints import SetMaker
from workflow_scripts.stages.generate.variants import set_maker
from workflow_scripts.stages.rewrite.requests import RequestError
from workflow_scripts.stages.rewrite.rewriter import Rewriter, Settings
from workflow_scripts.stages.rewrite.syntax_templates import TABLE, known
from workflow_scripts.stages.subword.segmenter import Segmenter, segmenter_path

# How the command and the library are told which rewriter of a run.
_NAME = "(--rewriter, name=)"


def add_options(parser: argparse.ArgumentParser, required: bool = True) -> None:
    """Add the options that say which rewriter works, and how; `required`: one must be named."""
    add = parser.add_argument
    where = parser.add_mutually_exclusive_group(required=required)
    where.add_argument("--run", type=Path, help="name or folder of a run")
    where.add_argument("--model", type=Path, help="folder of a rewriter, or of any model")
    add("--rewriter", metavar="NAME", help="which one, where the run has several")
    add("--language", help="code of the language that it writes, if its folder does not say it")
    add("--idf", type=Path, help="document frequencies for --system (those of the run)")
    add("--beam-size", type=int, default=Settings.beam_size, help="hypotheses of a sentence (5)")
    add("--sample", type=int, default=Settings.k, metavar="K", help="samples: of the K best (10)")
    add("--batch-rows", type=int, default=Settings.batch_rows, help="hypotheses at a time (512)")
    add("--copies", action="store_true", help="the sentence itself counts as a paraphrase of it")
    add("--no-meaning", action="store_true", help="without meaning scores")
    add("--device", choices=("auto", "cpu", "cuda"), default="auto")
    add("--precision", choices=tuple(PRECISIONS), default="fp32")


def open_rewriter(arguments: argparse.Namespace) -> Rewriter:
    """Return the rewriter that the options of `add_options` name.

    Raises:
        InputError: there is none, or its files are damaged.
    """
    if min(arguments.beam_size, arguments.sample, arguments.batch_rows) < 1:
        raise InputError("--beam-size, --sample and --batch-rows must be above zero")
    config: Config | None = None
    folder, run = arguments.model, None
    if arguments.run:
        run = run_folder(arguments.run)
        config = read_config(run)
        folder = _folder_in(run, config, arguments.rewriter)
    elif arguments.rewriter:
        raise InputError(f"a rewriter's name {_NAME} goes with a run; leave it out")
    elif arguments.idf:
        raise InputError("--idf goes with --run, whose systems need it; leave it out")
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; let the run finish, or name another one")
    if (folder / "model.json").is_file():
        verify(folder / "model")
    card = read_card(folder)
    if card.get("templates") and not (folder / TABLE).is_file():
        # Without it the model would read sentences as it never saw them.
        raise InputError(f"{folder / TABLE} is missing; get the folder again")
    # What is whole already comes back as it is from a rewriter that repairs.
    copies = arguments.copies or (card.get("noise") or {}).get("identity", 0) > 0
    shortlist = model_files(folder).shortlist is not None
    model = load_model(folder, arguments.device, arguments.precision, shortlist=shortlist)
    source, target = coders(model, folder, True, None, None)
    language = arguments.language or card.get("language")
    if language is None and config is not None:
        language = config["languages"]["reference"]["code"]
    return Rewriter(
        model,
        source,
        target,
        language,
        Settings(arguments.beam_size, arguments.sample, arguments.batch_rows, copies),
        templates=[entry.template for entry in known(folder)] if (folder / TABLE).exists() else [],
        systems=None if run is None else _systems(run, folder, arguments.idf),
        encoder=None if arguments.no_meaning else encoder_for(language),
    )


def encoder_for(language: str | None) -> Encoder | None:
    """Return the encoder for meaning scores: the installed one, which knows English only.

    Where there is none, stderr says so.
    """
    try:
        if language in ENGLISH:
            return load_encoder(encoder_folder())
        why = f"the encoder knows English (en) only, not {language or 'a language nobody named'}"
    except InputError as error:
        why = str(error)
    print(f"note: no meaning scores: {why}", file=sys.stderr)
    return None


def _folder_in(run: Path, config: Config, name: str | None) -> Path:
    names = config["run"].get("rewriters") or []
    if not names:
        raise InputError(
            f"{run} has no rewriter: name one in run.rewriters of its configuration and run it "
            "again, or name the folder of a model"
        )
    if name is None and len(names) > 1:
        raise InputError(f"{run} has several rewriters; choose one {_NAME}: {', '.join(names)}")
    if name is not None and name not in names:
        raise InputError(f"{run} has no rewriter '{name}'{suggestion(name, names, 'ones')}")
    return run / link_name("rewrite", name or names[0])


def _systems(run: Path, folder: Path, idf: Path | None) -> Callable[[str], SetMaker]:
    """Return a function that makes the constraint sets of a system of a run's configuration."""
    return partial(sets_of, run, read_config(run), segmenter_path(folder, "reference"), idf)


def sets_of(run: Path, config: Config, pieces: Path, idf: Path | None, system: str) -> SetMaker:
    """Return what makes the constraint sets of a system, or of `SYSTEM:VARIANT`.

    Words that it chooses at random depend on the run's seed and the identifier of the sentence.

    Raises:
        RequestError: there is no such system or variant, or no document frequencies.
    """
    name, _, variant = system.partition(":")
    if name not in config["systems"]:
        raise RequestError(
            f"'system' {name!r} is not there{suggestion(name, list(config['systems']))}"
        )
    constraints = run_layout(config).settings(("generate", name))["constraints"]
    if variant:
        known = (constraints or {}).get("variants", {})
        if not known:
            raise RequestError(f"'system': {name} has no variants; leave ':{variant}' out")
        if variant not in known:
            raise RequestError(
                f"'system': {name} has no variant {variant!r}{suggestion(variant, list(known))}"
            )
        constraints = {**constraints, "variants": {variant: known[variant]}}
    if idf is None and constraints and "idf" in constraints:
        idf = run / "generate.idf" / "idf.parquet"
        if not idf.is_file():
            raise RequestError(
                f"'system' {name} chooses words by their IDF, and {run} has counted none: name a "
                "file of document frequencies (--idf), or a run one of whose systems has them"
            )
    text = Segmenter(pieces)
    return set_maker(constraints, config.get("seed", 1), text.phrase, idf, text.at_start)
