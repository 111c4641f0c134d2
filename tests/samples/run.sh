#!/usr/bin/env bash
# The sample programs, compiled with all warnings, give the scores stored beside them.
#
#   tests/samples/run.sh [BUILD_FOLDER]
set -euo pipefail
cd "$(dirname "$0")/../.."
build="${1:-build}"
out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT

sample() {  # sample NAME ARGUMENT...; onnxc_options are for the compiler
  local name="$1" level
  shift
  "$build/onnxc" "samples/$name/$name.onnx" -o "$out/$name.cpp" --link-file "$out/$name.link" "${onnxc_options[@]}"
  for level in -O2 -O3; do
    "${CXX:-g++}" -std=c++20 $level -march=native -Wall -Wextra -Wpedantic -Wconversion -Werror -Iruntime_stub "-I$out" "-Isamples/$name" \
      "samples/$name/main.cpp" "$out/$name.cpp" "-Wl,@$out/$name.link" -o "$out/$name"
    "$out/$name" "$@"
  done
}
onnxc_options=()
sample digits samples/digits/digit.pgm samples/digits/expected.txt
sample dynamic_mlp samples/dynamic_mlp/flowers.txt
{ printf 'R"vocab('; cat samples/embed/vocab.txt; printf ')vocab"\n'; } >"$out/vocab.inc"  # as its CMakeLists.txt does
sample embed --check samples/embed/expected.txt

# On a GPU, which is emulated here.
"$build/onnxc" samples/digits/digits.onnx -o "$out/digits.cu" --target=cuda-sm80
"${CXX:-g++}" -std=c++20 -O2 -march=native -Wall -Wextra -Wpedantic -Wconversion -Werror -Iruntime_stub "-I$out" samples/cuda/main.cpp \
  -x c++ "$out/digits.cu" -o "$out/digits_on_gpu"
"$out/digits_on_gpu" samples/digits/digit.pgm samples/digits/expected.txt
if ONNXC_EMULATOR_DEVICES=0 "$out/digits_on_gpu" samples/digits/digit.pgm 2>"$out/said"; then echo "a run without a GPU succeeds"; exit 1; fi
grep -q 'no session: the GPU failed: no GPU is emulated' "$out/said" || { cat "$out/said"; exit 1; }

onnxc_options=(--custom-op "geo.Haversine=haversine.hpp:geo::haversine, y0 = x0[x0.0, x1.0], y1 = int64[x0.0]")
sample custom_operator samples/custom_operator/expected.txt
