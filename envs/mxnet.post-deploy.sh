#!/usr/bin/env bash
# Sockeye 2. Its metadata ask for the CPU build of MXNet, where another may stand in mxnet.yaml.
set -euo pipefail
pip install --no-deps --require-hashes -r /dev/stdin <<'REQUIREMENT'
sockeye==2.3.24 \
    --hash=sha256:6a743e5d37b21226bc039dcd045b38a4b996868bfad3da8e41e09e4598064375
REQUIREMENT
