#!/usr/bin/env bash
# Small networks in which values lie inside of others, or weights change for the run, against ONNX Runtime, with the onnxc that was built.
#
#   tests/placement/run.sh [BUILD_FOLDER]
set -uo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="$(cd "${1:-build}" && pwd)"
if ! "$ONNXC_PYTHON" -c 'import numpy, onnx, onnxruntime' 2>/dev/null; then
  echo "no Python with numpy, onnx and onnxruntime: tools/setup.sh --test-deps"
  exit 77
fi
export ONNXC_EXECUTABLE="$build/onnxc" PYTHONPATH=python PYTHONDONTWRITEBYTECODE=1
exec "$ONNXC_PYTHON" tests/placement/check.py
