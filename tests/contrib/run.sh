#!/usr/bin/env bash
# Operators whose oracle is ONNX Runtime: quantised ones, recurrent networks, com.microsoft's.
#
#   tests/contrib/run.sh [BUILD_FOLDER [REGEX]]
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="$(cd "${1:-build}" && pwd)"
[ -x "$build/onnxc" ] || { echo "(no $build/onnxc)"; exit 77; }
"$ONNXC_PYTHON" -c 'import numpy, onnx, onnxruntime' 2>/dev/null || { echo "no Python with onnxruntime: tools/setup.sh --test-deps"; exit 77; }
export ONNXC_EXECUTABLE="$build/onnxc" PYTHONPATH=python PYTHONDONTWRITEBYTECODE=1
exec "$ONNXC_PYTHON" tests/contrib/check.py "${2:-}"
