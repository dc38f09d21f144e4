#!/usr/bin/env python3
"""Submit a job's script; say what the job is called."""

import sys
from pathlib import Path

from pods import submit

print(submit(Path(sys.argv[1])))
