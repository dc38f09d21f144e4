#!/usr/bin/env bash
# Sockeye's metadata ask for an old torch; on the pinned one it trains and decodes unchanged.
set -euo pipefail
pip install --no-deps --require-hashes -r /dev/stdin <<'REQUIREMENT'
sockeye==3.1.34 \
    --hash=sha256:0bc9eeabb8d5ff2af8246299e701d7675a2b6c9101b66704347b72b76921d5e2 \
    --hash=sha256:e0601c796c9cb097b2d2dfcdce978f5b1dfab1b5a812e9b8d78ef53631e8afd5
REQUIREMENT
