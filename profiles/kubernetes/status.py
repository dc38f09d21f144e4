#!/usr/bin/env python3
"""Say how a job is: running, success or failed."""

import sys

from pods import status

print(status(sys.argv[1]))
