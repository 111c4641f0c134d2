#!/usr/bin/env bash
# What is promised of emitted files holds; see check.py.
#
#   tests/emitted/run.sh [BUILD_FOLDER [MODEL.onnx...]]
#
# Without models: small ones that are made here, the samples, and a few whole networks of tests/zoo.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="${1:-build}"
[ $# -gt 0 ] && shift
[ -x "$build/onnxc" ] || { echo "(no $build/onnxc)"; exit 77; }
"$ONNXC_PYTHON" -c 'import onnx, numpy' 2>/dev/null || { echo "(no Python with onnx; tools/setup.sh --test-deps makes one)"; exit 77; }
models=("$@")
if [ ${#models[@]} = 0 ]; then
  folder="$(tests/zoo/folder.sh)"
  for name in lenet5_digits mobilenet_v2 minilm_l6_arch human_activity mobilenet_v1_025 encoder; do  # real ones, or those that are made
    [ ! -e "$folder/$name/model.onnx" ] || models+=("$folder/$name/model.onnx")
  done
fi
"$ONNXC_PYTHON" -B tests/emitted/check.py "$build/onnxc" runtime_stub samples "${models[@]}"
