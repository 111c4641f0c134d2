#!/usr/bin/env bash
# Bad input ends in a clear error, hard input compiles; see cases/ and names.py.
#
#   tests/refuse/run.sh [BUILD_FOLDER [REGEX]]
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="${1:-build}"
[ -x "$build/onnxc" ] || { echo "(no $build/onnxc)"; exit 77; }
"$ONNXC_PYTHON" -c 'import onnx, numpy' 2>/dev/null || { echo "(no Python with onnx; tools/setup.sh --test-deps makes one)"; exit 77; }
"$ONNXC_PYTHON" -B tests/refuse/check.py "$build/onnxc" "${2:-}"
[ -n "${2:-}" ] || "$ONNXC_PYTHON" -B tests/refuse/catalogue.py "$build/onnxc"
[ -n "${2:-}" ] || "$ONNXC_PYTHON" -B tests/refuse/names.py "$build/onnxc" runtime_stub
