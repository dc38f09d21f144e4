#!/usr/bin/env bash
# Sockeye's metadata ask for an old torch; on the pinned one it trains and decodes unchanged.
set -euo pipefail
pip install --no-deps sockeye==3.1.34
