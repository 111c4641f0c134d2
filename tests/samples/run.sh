#!/usr/bin/env bash
# The sample programs, compiled with all warnings, give the scores stored beside them.
#
#   tests/samples/run.sh [BUILD_FOLDER]
set -euo pipefail
cd "$(dirname "$0")/../.."
build="${1:-build}"
out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT

sample() {  # sample NAME ARGUMENT...
  local name="$1"
  shift
  "$build/onnxc" "samples/$name/$name.onnx" -o "$out/$name.cpp"
  "${CXX:-g++}" -std=c++20 -O2 -march=native -Wall -Wextra -Wpedantic -Wconversion -Werror -Iruntime_stub "-I$out" \
    "samples/$name/main.cpp" "$out/$name.cpp" -o "$out/$name"
  "$out/$name" "$@"
}
sample digits samples/digits/digit.pgm samples/digits/expected.txt
sample dynamic_mlp samples/dynamic_mlp/flowers.txt
