#!/usr/bin/env bash
# ai.onnx.ml and operators on strings against ONNX Runtime, with the onnxc that was built.
#
#   tests/ml/run.sh [BUILD_FOLDER] [check.py's arguments…]
set -uo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="$(cd "${1:-build}" && pwd)"
[ $# = 0 ] || shift
if ! "$ONNXC_PYTHON" -c 'import numpy, onnx, onnxruntime' 2>/dev/null; then
  echo "no Python with numpy, onnx and onnxruntime: tools/setup.sh --test-deps"
  exit 77
fi
export ONNXC_EXECUTABLE="$build/onnxc" PYTHONPATH=python PYTHONDONTWRITEBYTECODE=1
code=0
for script in tests/ml/check.py tests/text/check.py; do "$ONNXC_PYTHON" "$script" "$@" || code=1; done
exit $code
