#!/usr/bin/env bash
# Models that keep a state at one place give what the same models give with the state as an input and an output; see check.py.
#
#   tests/state/run.sh [BUILD_FOLDER [MODEL...]]      MODEL: folders of models with caches, as tests/zoo has them; by default those of the zoo where it is
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="$(cd "${1:-build}" && pwd)"
shift || true
[ -x "$build/onnxc" ] || { echo "(no $build/onnxc)"; exit 77; }
"$ONNXC_PYTHON" -c 'import numpy, onnx, onnxruntime' 2>/dev/null || { echo "no Python with onnxruntime: tools/setup.sh --test-deps"; exit 77; }
export ONNXC_EXECUTABLE="$build/onnxc" PYTHONPATH="$PWD/python${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1
models=("$@")
if [ ${#models[@]} = 0 ] && folder="$(tests/zoo/folder.sh --all 2>/dev/null)"; then
  for name in gpt2_mini_kv llama_mini_kv silero_vad; do [ ! -d "$folder/$name" ] || models+=("$folder/$name"); done
fi
exec "$ONNXC_PYTHON" tests/state/check.py "${models[@]}"
