#!/bin/sh
# What a GPU does with this code, in six minutes and without a network; benchmarks/gpu.py says more.
#   benchmarks/gpu.sh pack                   # before, with a network: packages into .gpu/
#   benchmarks/gpu.sh                        # on the machine with the GPU
#   benchmarks/gpu.sh --device cpu --tiny    # to try it without one
set -eu
cd "$(dirname "$0")/.."
exec "${PYTHON:-python3}" -m benchmarks.gpu "$@"
