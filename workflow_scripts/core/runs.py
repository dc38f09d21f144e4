"""`runs/<name>/`: the resolved configuration of a run and links to its stage folders.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

import os
from pathlib import Path

import yaml

from workflow_scripts.core.atomic import write_text
from workflow_scripts.core.layout import Layout


def link_run(layout: Layout, runs: Path = Path("runs")) -> Path:
    """Write `runs/<name>/config.yaml` and a link `<stage>[.<instance>]` to each folder.

    Links of an earlier configuration of the same name are replaced.
    """
    run = runs / layout.config["run"]["name"]
    run.mkdir(parents=True, exist_ok=True)
    for entry in run.iterdir():
        if entry.is_symlink():
            entry.unlink()
    for stage, instance in layout.units():
        link = run / ".".join(part for part in (stage, instance) if part)
        link.symlink_to(os.path.relpath(layout.folder(stage, instance), run))
    write_text(run / "config.yaml", yaml.safe_dump(layout.config, sort_keys=False))
    return run
