#!/usr/bin/env bash
# onnxc report: its files, and its pages in a headless browser; see check.py.
#
#   tests/report/run.sh [BUILD_FOLDER]
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="$(cd "${1:-build}" && pwd)"
[ -x "$build/onnxc" ] || { echo "(no $build/onnxc)"; exit 77; }
"$ONNXC_PYTHON" -c 'import onnx, numpy' 2>/dev/null || { echo "(no Python with onnx; tools/setup.sh --test-deps makes one)"; exit 77; }
browser="$(command -v chromium || true)"
"$ONNXC_PYTHON" -B tests/report/check.py "$build/onnxc" $browser
[ -n "$browser" ] || { echo "(no chromium, so pages were not opened; tools/setup.sh --test-deps installs it)"; exit 77; }
