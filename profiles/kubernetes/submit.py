#!/usr/bin/env python3
"""Submit a job's script; say what the job is called."""

import sys
from pathlib import Path

# Snakemake's environment says PYTHONSAFEPATH.
sys.path.insert(0, str(Path(__file__).resolve().parent))

from pods import submit

print(submit(Path(sys.argv[1])))
