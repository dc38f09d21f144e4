"""Documented commands under the names that they had before the rooms were ordered.

`python -m workflow_scripts.judge.fit` starts `stages/judge/fit.py`. Nothing here imports
a module by an old name. Sockeye 2's interpreter reads this file: it is Python 3.8.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

_ROOM = "workflow_scripts"
_STAGES = (
    "corpus clean dual_filter subword train generate score judge select syntax filter embed"
    " evaluate rewrite lexicon transfer encoder release"
)
# The longest old name wins.
FORWARDS = {
    "embed.embedding": "encoding.embedding",
    "nmt.score": "nmt.score_pairs",
    "rewrite.export": "stages.rewrite.export_rewriter",
    "testbed.check": "testbed.check_paraphrases",
    "transfer.measure": "stages.transfer.measure_model",
    "judge.annotate": "apps.annotate",
    "rewrite.serve": "apps.rewriter.serve",
    **{name: f"stages.{name}" for name in _STAGES.split()},
    **{name: f"commands.{name}" for name in ("estimate", "status", "runs")},
}


def forwarded(name: str) -> str | None:
    """Return today's name of a module that goes by an old one, None for any other name."""
    for old, new in FORWARDS.items():
        room = f"{_ROOM}.{old}"
        if name == room or name.startswith(f"{room}."):
            return f"{_ROOM}.{new}{name[len(room) :]}"
    return None


class Forwards(MetaPathFinder):
    """Finds a module under its old name."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where the code of a module with an old name is, None for any other module."""
        today = forwarded(fullname)
        spec = today and importlib.util.find_spec(today)
        if not spec or spec.origin is None:
            return None
        return importlib.util.spec_from_file_location(
            fullname, spec.origin, submodule_search_locations=spec.submodule_search_locations
        )


def install() -> None:
    """Make the old names known to this process."""
    if not any(isinstance(finder, Forwards) for finder in sys.meta_path):
        sys.meta_path.append(Forwards())
