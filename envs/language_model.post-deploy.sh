#!/usr/bin/env bash
# Builds KenLM into $CONDA_PREFIX: its Python module, and its programs, which the module's package
# leaves out. It needs cmake, a C++ compiler and Boost: from conda beside this file, elsewhere from
# `make deps`.
set -euo pipefail
version=0.3.0
sha256=c4628bb9fb63c8a6f9240035b8b037385cfc404cb72e933cf48878291edac1e8
programs=(build_binary lmplz)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# pip runs the archive's setup.py to learn its name: with the setuptools that are installed, and only
# if the archive is the known one.
"$CONDA_PREFIX/bin/python" -m pip download --quiet --no-deps --no-binary kenlm --no-build-isolation \
  --require-hashes -r /dev/stdin --dest "$work" <<<"kenlm==$version --hash=sha256:$sha256"
# The module comes first, as `make setup` takes the programs for the sign that all is there.
"$CONDA_PREFIX/bin/python" -m pip install --quiet --no-deps --no-index --no-build-isolation \
  "$work/kenlm-$version.tar.gz" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
tar -xzf "$work/kenlm-$version.tar.gz" -C "$work"
cmake -S "$work/kenlm-$version" -B "$work/build" -DCMAKE_BUILD_TYPE=Release \
  -DENABLE_INTERPOLATE=OFF -DCMAKE_PREFIX_PATH="$CONDA_PREFIX" \
  -DCMAKE_INSTALL_RPATH="$CONDA_PREFIX/lib" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
cmake --build "$work/build" --parallel --target "${programs[@]}" >"$work/log" 2>&1 ||
  { cat "$work/log" >&2; exit 1; }
for program in "${programs[@]}"; do
  install -m 755 "$work/build/bin/$program" "$CONDA_PREFIX/bin/.$program"
  mv "$CONDA_PREFIX/bin/.$program" "$CONDA_PREFIX/bin/$program"
done
