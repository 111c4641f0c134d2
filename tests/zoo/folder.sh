#!/usr/bin/env bash
# Prints the folder with the models that stages run: one folder a model, in the layout of ONNX's backend tests.
#
#   tests/zoo/folder.sh [--all]
#
# Real models where there are some: $ONNXC_CACHE/zoo, which ../shared/zoo fills where that exists. Else networks that generate.py makes, once for each of its forms; with --all
# every kind that it knows.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
. "$root/tools/env.sh"
zoo="$ONNXC_CACHE/zoo"
if [ ! -e "$zoo/.complete" ] && [ -e "$root/../shared/zoo/materialise.py" ]; then
  "$ONNXC_PYTHON" "$root/../shared/zoo/materialise.py" "$zoo" >/dev/null
  touch "$zoo/.complete"
fi
if [ -e "$zoo/.complete" ]; then echo "$zoo"; exit; fi
if ! "$ONNXC_PYTHON" -c 'import numpy, onnx, onnxruntime' 2>/dev/null; then echo "no Python with onnxruntime: tools/setup.sh --test-deps" >&2; exit 77; fi
form="$(cat "$root"/tests/zoo/generate.py "$root"/tests/networks.py "$root"/bench/network.py "$root"/bench/kinds/*.py | sha256sum | cut -c1-12)"
[ "${1:-}" = --all ] && form+="-all"
folder="$ONNXC_CACHE/networks-$form"
if [ ! -e "$folder/.complete" ]; then
  rm -rf "$ONNXC_CACHE"/networks-*  # of other forms
  PYTHONDONTWRITEBYTECODE=1 "$ONNXC_PYTHON" "$root/tests/zoo/generate.py" "$folder" "$@"
  touch "$folder/.complete"
fi
echo "$folder"
