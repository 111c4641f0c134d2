#!/usr/bin/env bash
# Operators that ONNX's backend tests do not hold, or hold in few forms, against ONNX Runtime or numpy: quantised ones, recurrent networks, signals, training,
# com.microsoft's.
#
#   tests/contrib/run.sh [BUILD_FOLDER [REGEX]]
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="$(cd "${1:-build}" && pwd)"
[ -x "$build/onnxc" ] || { echo "(no $build/onnxc)"; exit 77; }
"$ONNXC_PYTHON" -c 'import numpy, onnx, onnxruntime' 2>/dev/null || { echo "no Python with onnxruntime: tools/setup.sh --test-deps"; exit 77; }
export ONNXC_EXECUTABLE="$build/onnxc" PYTHONPATH=python PYTHONDONTWRITEBYTECODE=1
failed=0
for file in tests/contrib/check.py tests/contrib/check_*.py; do "$ONNXC_PYTHON" "$file" ${2:+"$2"} || failed=1; done
exit $failed
