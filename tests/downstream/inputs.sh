#!/usr/bin/env bash
# What the project of this folder is given: a model of its own, and eight images of 8x8 pixels as numpy.save would write them, with ones where the bits of their numbers are.
#
#   tests/downstream/inputs.sh FOLDER
set -euo pipefail
mkdir -p "$1"
cp "$(dirname "$0")/../../samples/dynamic_mlp/dynamic_mlp.onnx" "$1/mlp.onnx"
header="{'descr': '<f4', 'fortran_order': False, 'shape': (8, 1, 8, 8), }"
{
  printf "\x93NUMPY\x01\x00\x$(printf %02x ${#header})\x00%s" "$header"
  for i in 1 2 3 4 5 6 7 8; do
    for ((k = 0; k < 64; k++)); do if (((k * i) & 4)); then printf '\x00\x00\x80\x3f'; else printf '\x00\x00\x00\x00'; fi; done
  done
} >"$1/images.npy"
