#!/usr/bin/env bash
# Models compiled for a GPU, run in sessions on the emulated one, by the C ABI: sessions.cpp says what must hold.
#
#   tests/gpu/sessions.sh [BUILD_FOLDER [MODEL...]]      names of the zoo
set -uo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="${1:-build}"
[ -x "$build/onnxc" ] || { echo "(no $build/onnxc)"; exit 77; }
models=("${@:2}")
[ ${#models[@]} -gt 0 ] || models=(churn_mlp dynamic_batch_cnn mlperf_tiny_ad_int8 kmeans cond_if random_forest_strings)
zoo="$ONNXC_CACHE/zoo" wrong=0 found=0
out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT
for model in "${models[@]}"; do
  [ -f "$zoo/$model/model.onnx" ] || continue
  found=$((found + 1))
  "$build/onnxc" "$zoo/$model/model.onnx" -o "$out/unit.cu" --target cuda-sm80 -O1 &&
    "${CXX:-g++}" -std=c++20 -O1 -march=native -Wall -Wextra -Werror -Iruntime_stub -DMODEL=unit_model tests/gpu/sessions.cpp -x c++ "$out/unit.cu" -o "$out/sessions" &&
    "$out/sessions" || { wrong=$((wrong + 1)); echo "$model is wrong"; }
done
[ $found -gt 0 ] || { echo "(no models in $zoo)"; exit 77; }
echo "$found models in sessions, $wrong wrong"
[ $wrong = 0 ]
