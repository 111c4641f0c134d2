#!/usr/bin/env bash
# Runs a check in Python with the onnxc that was built; ends with 77 where Python lacks what it imports.
#
#   tests/run_check.sh CHECK.py MODULES [BUILD_FOLDER [ARGUMENT...]]      tests/run_check.sh tests/placement/check.py 'numpy, onnx' build
set -uo pipefail
cd "$(dirname "$0")/.."
. tools/env.sh
build="$(cd "${3:-build}" && pwd)"
if ! "$ONNXC_PYTHON" -c "import $2" 2>/dev/null; then
  echo "no Python with $2: tools/setup.sh --test-deps"
  exit 77
fi
export ONNXC_EXECUTABLE="$build/onnxc" PYTHONPATH=python PYTHONDONTWRITEBYTECODE=1
exec "$ONNXC_PYTHON" "$1" "${@:4}"
