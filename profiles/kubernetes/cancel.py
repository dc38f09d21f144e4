#!/usr/bin/env python3
"""Delete jobs."""

import sys
from pathlib import Path

# Snakemake's environment says PYTHONSAFEPATH.
sys.path.insert(0, str(Path(__file__).resolve().parent))

from pods import cancel

cancel(sys.argv[1:])
