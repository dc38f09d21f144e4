"""The configuration as Snakemake resolves it, for commands that start no workflow."""

import argparse
import sys
from pathlib import Path

from snakemake.cli import parse_config
from snakemake.common.configfile import load_configfile
from snakemake.exceptions import WorkflowError
from snakemake.utils import update_config

from workflow_scripts.core.config_size import require_bounded
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.yaml_text import require_single_keys
from workflow_scripts.plan.config import Config

# PyYAML raises all of these for values that are not what their tags say.
_LOAD_ERRORS = (OSError, WorkflowError, ValueError, LookupError, TypeError, AttributeError)
DEFAULTS = Path(__file__).resolve().parents[2] / "config.yaml"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of Snakemake that say what the configuration is."""
    parser.add_argument(
        "--configfile", type=Path, nargs="*", default=[], help="recipes, as Snakemake takes them"
    )
    parser.add_argument(
        "--config", nargs="*", default=[], metavar="KEY=VALUE", help="as Snakemake takes it"
    )


def require_given_once(*names: str) -> None:
    """Refuse an option that is twice in Snakemake's command line; it would take the last one.

    Raises:
        InputError: it stands there twice.
    """
    if sum(word.partition("=")[0] in names for word in sys.argv[1:]) > 1:
        raise InputError(
            f"{names[0]} stands twice in the command line, and what comes first would be lost; "
            f"give all of it behind one {names[0]}"
        )


def resolve(files: list[Path], settings: list[str]) -> Config:
    """Merge config.yaml, config files in their order, and settings `key=value`.

    Raises:
        InputError: a file is missing, not YAML or too large for what it stands for, or a setting
            is no `key=value`.
    """
    config: Config = {}
    for path in [DEFAULTS, *files]:
        update_config(config, _load(path))
    try:
        update_config(config, parse_config(settings))
    except (WorkflowError, ValueError) as error:
        raise InputError(f"configuration: {error}") from error
    return config


def _load(path: Path) -> Config:
    try:
        loaded = load_configfile(path)
    except RecursionError as error:
        raise InputError(f"configuration: {path}: too many levels; take some out") from error
    except _LOAD_ERRORS as error:
        raise InputError(f"configuration: {path}: {error}") from error
    require_single_keys(path)
    # Before it is merged, which walks over it.
    require_bounded(loaded, f"configuration: {path}")
    return loaded
