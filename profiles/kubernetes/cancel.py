#!/usr/bin/env python3
"""Delete jobs."""

import sys

from pods import cancel

cancel(sys.argv[1:])
