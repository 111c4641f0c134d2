#!/usr/bin/env bash
# onnxc verify: right units pass, each kind of planted fault is found, and what was not compared is told; see check.py.
#
#   tests/verify/run.sh [BUILD_FOLDER]
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="${1:-build}"
[ -x "$build/onnxc" ] || { echo "(no $build/onnxc)"; exit 77; }
"$ONNXC_PYTHON" -c 'import onnx, numpy' 2>/dev/null || { echo "(no Python with onnx; tools/setup.sh --test-deps makes one)"; exit 77; }
"$ONNXC_PYTHON" -B tests/verify/check.py "$build/onnxc"
