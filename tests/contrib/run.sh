#!/usr/bin/env bash
# Operators that ONNX's backend tests do not hold, or hold in few forms, against ONNX Runtime or numpy.   run.sh [BUILD] [REGEX]
set -uo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="${1:-build}"
export ONNXC_EXECUTABLE="$(cd "$build" && pwd)/onnxc" PYTHONPATH="$PWD/python${PYTHONPATH:+:$PYTHONPATH}"
"$ONNXC_PYTHON" -c 'import onnx, onnxruntime, numpy' 2>/dev/null || exit 77
failed=0
for file in tests/contrib/check_*.py; do "$ONNXC_PYTHON" "$file" ${2:+"$2"} || failed=1; done
exit $failed
