#!/usr/bin/env bash
# Builds KenLM's programs, which its Python package leaves out, into $CONDA_PREFIX/bin. It needs
# cmake, a C++ compiler and Boost: from conda beside this file, elsewhere from `make deps`.
set -euo pipefail
version=0.3.0
programs=(build_binary query lmplz)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$CONDA_PREFIX/bin/python" -m pip download --quiet --no-deps --no-binary kenlm \
  --dest "$work" "kenlm==$version"
tar -xzf "$work/kenlm-$version.tar.gz" -C "$work"
cmake -S "$work/kenlm-$version" -B "$work/build" -DCMAKE_BUILD_TYPE=Release \
  -DENABLE_INTERPOLATE=OFF -DCMAKE_PREFIX_PATH="$CONDA_PREFIX" \
  -DCMAKE_INSTALL_RPATH="$CONDA_PREFIX/lib" >"$work/log" || { cat "$work/log" >&2; exit 1; }
cmake --build "$work/build" --parallel --target "${programs[@]}" >"$work/log" ||
  { cat "$work/log" >&2; exit 1; }
for program in "${programs[@]}"; do
  install -m 755 "$work/build/bin/$program" "$CONDA_PREFIX/bin/$program"
done
