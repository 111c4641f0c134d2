#!/usr/bin/env bash
# Models compiled for a GPU, run in the emulator of GPUs: the results are those that ONNX Runtime gave.
#
#   tests/gpu/units.sh [BUILD_FOLDER [MODEL...]]      names of the zoo; each is built and run once
set -uo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="${1:-build}"
[ -x "$build/onnxc" ] || { echo "(no $build/onnxc)"; exit 77; }
models=("${@:2}")
[ ${#models[@]} -gt 0 ] || models=(churn_mlp lenet5_digits lstm_classifier dynamic_batch_cnn mlperf_tiny_ad_int8 lightgbm_clf cond_if random_forest_strings kmeans silero_vad)
zoo="$ONNXC_CACHE/zoo" wrong=0 found=0
for model in "${models[@]}"; do
  [ -f "$zoo/$model/model.onnx" ] || continue
  found=$((found + 1))
  if ! said=$("$build/onnxc" run "$zoo/$model/model.onnx" --target cuda-sm80 -O1 2>&1); then
    wrong=$((wrong + 1))
    printf '%s\n' "$model:" "$said" | tail -n 5
  fi
done
[ $found -gt 0 ] || { echo "(no models in $zoo)"; exit 77; }
echo "$found models for GPUs, $wrong wrong"
[ $wrong = 0 ]
