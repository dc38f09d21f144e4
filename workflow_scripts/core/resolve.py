"""The configuration as Snakemake resolves it, for commands that start no workflow."""

import argparse
from pathlib import Path

from snakemake.cli import parse_config
from snakemake.common.configfile import load_configfile
from snakemake.exceptions import WorkflowError
from snakemake.utils import update_config

from workflow_scripts.core.config import Config
from workflow_scripts.core.errors import InputError

DEFAULTS = Path(__file__).resolve().parents[2] / "config.yaml"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of Snakemake that say what the configuration is."""
    parser.add_argument(
        "--configfile", type=Path, nargs="*", default=[], help="recipes, as Snakemake takes them"
    )
    parser.add_argument(
        "--config", nargs="*", default=[], metavar="KEY=VALUE", help="as Snakemake takes it"
    )


def resolve(files: list[Path], settings: list[str]) -> Config:
    """Merge config.yaml, config files in their order, and settings `key=value`.

    Raises:
        InputError: a file is missing or not YAML, or a setting is no `key=value`.
    """
    config: Config = {}
    try:
        for path in [DEFAULTS, *files]:
            update_config(config, load_configfile(path))
        update_config(config, parse_config(settings))
    except (OSError, WorkflowError, ValueError) as error:
        raise InputError(f"configuration: {error}") from error
    return config
