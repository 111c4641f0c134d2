#!/usr/bin/env bash
# What shows a model from inside: --profile, onnxc profile, info, explain, run --tap and bisect; see check.py.
#
#   tests/sight/run.sh [BUILD_FOLDER]
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="${1:-build}"
[ -x "$build/onnxc" ] || { echo "(no $build/onnxc)"; exit 77; }
"$ONNXC_PYTHON" -c 'import onnx, numpy' 2>/dev/null || { echo "(no Python with onnx; tools/setup.sh --test-deps makes one)"; exit 77; }
"$ONNXC_PYTHON" -B tests/sight/check.py "$build/onnxc" runtime_stub
