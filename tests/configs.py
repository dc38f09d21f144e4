"""Configurations that tests start from."""

import functools
import json
from pathlib import Path

from workflow_scripts.plan.config import Config
from workflow_scripts.plan.resolve import resolve

ROOT = Path(__file__).resolve().parents[1]


def run_on_testbed() -> Config:
    """Return the run on the testbed, a copy that may be changed."""
    return json.loads(_testbed())


@functools.cache
def _testbed() -> str:
    return json.dumps(resolve([ROOT / "recipes" / "testbed.yaml"], []))
