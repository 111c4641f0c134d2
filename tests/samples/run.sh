#!/usr/bin/env bash
# The sample programs, each compiled as its README line says, give the scores stored beside them.
set -euo pipefail
cd "$(dirname "$0")/../.."
out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT

sample() {  # sample NAME ARGUMENT...
  local name="$1"
  shift
  build/onnxc "samples/$name/$name.onnx" -o "$out/$name.cpp"
  "${CXX:-g++}" -std=c++20 -O2 -march=native -Wall -Wextra -Wpedantic -Wconversion -Werror -Iruntime_stub "-I$out" \
    "samples/$name/main.cpp" "$out/$name.cpp" -o "$out/$name"
  "$out/$name" "$@"
}
sample digits samples/digits/digit.pgm samples/digits/expected.txt
sample dynamic_mlp samples/dynamic_mlp/flowers.txt
