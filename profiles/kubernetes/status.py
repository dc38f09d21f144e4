#!/usr/bin/env python3
"""Say how a job is: running, success or failed."""

import sys
from pathlib import Path

# Snakemake's environment says PYTHONSAFEPATH.
sys.path.insert(0, str(Path(__file__).resolve().parent))

from pods import status

print(status(sys.argv[1]))
