#!/usr/bin/env bash
# Weights that are stored narrower: the same results to the bit, in fewer bytes, with the onnxc that was built.
#
#   tests/narrow/run.sh [BUILD_FOLDER]
set -uo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="$(cd "${1:-build}" && pwd)"
if ! "$ONNXC_PYTHON" -c 'import numpy, onnx' 2>/dev/null; then
  echo "no Python with numpy and onnx: tools/setup.sh --test-deps"
  exit 77
fi
export ONNXC_EXECUTABLE="$build/onnxc" PYTHONPATH=python PYTHONDONTWRITEBYTECODE=1
exec "$ONNXC_PYTHON" tests/narrow/check.py
