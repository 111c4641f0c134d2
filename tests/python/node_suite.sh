#!/usr/bin/env bash
# ONNX's own Python runner over onnxc.backend: the whole node suite.
#
#   tests/python/node_suite.sh [--jobs N] [--filter REGEX]
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="$(cd "${ONNXC_BUILD:-build}" && pwd)"
if ! "$ONNXC_PYTHON" -c 'import numpy, onnx' 2>/dev/null; then
  echo "no Python with numpy and onnx: tools/setup.sh --test-deps"
  exit 77
fi
export ONNXC_EXECUTABLE="$build/onnxc" PYTHONPATH=python PYTHONDONTWRITEBYTECODE=1
exec "$ONNXC_PYTHON" tests/python/onnx_node_suite.py "$@"
