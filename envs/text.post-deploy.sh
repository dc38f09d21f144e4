#!/usr/bin/env bash
# The detector of languages asks for numpy 2; on the pinned one it works unchanged.
set -euo pipefail
pip install --no-deps --require-hashes -r /dev/stdin <<'REQUIREMENT'
py3langid==0.4.0 \
    --hash=sha256:5924159039b5cc282c2edc10a7ea9363b2099834a0e99ed8d5bea3cc435d7871 \
    --hash=sha256:c25bd038147951ba3a89efe9ec12cc7d2116cb6f311ff8af84ade398a8bc0616
REQUIREMENT
