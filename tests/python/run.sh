#!/usr/bin/env bash
# The tests of the Python package, with the onnxc that was built.
#
#   tests/python/run.sh [BUILD_FOLDER] [unittest's arguments…]
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="$(cd "${1:-build}" && pwd)"
[ $# = 0 ] || shift
if ! "$ONNXC_PYTHON" -c 'import numpy, onnx' 2>/dev/null; then
  echo "no Python with numpy and onnx: tools/setup.sh --test-deps"
  exit 77
fi
export ONNXC_EXECUTABLE="$build/onnxc" PYTHONPATH="$PWD/python:$PWD/python/tests" PYTHONDONTWRITEBYTECODE=1
if [ $# = 0 ]; then set -- discover -s python/tests; fi
exec "$ONNXC_PYTHON" -m unittest "$@"
