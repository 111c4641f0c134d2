#!/usr/bin/env bash
# Operators that ONNX's backend tests do not hold, or hold in few forms, against ONNX Runtime, onnx.reference or numpy.
#
# Many units are built in one, with -O0 (tests/units.py). With ONNXC_UNITS_LEVEL=-O3, as units are built for use, the compiler takes three times as long.
#
#   tests/contrib/run.sh [BUILD_FOLDER [REGEX]]      REGEX: those of which the name or an operator matches, in any case
set -uo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="$(cd "${1:-build}" && pwd)"
[ -x "$build/onnxc" ] || { echo "(no $build/onnxc)"; exit 77; }
"$ONNXC_PYTHON" -c 'import numpy, onnx, onnxruntime' 2>/dev/null || { echo "no Python with onnxruntime: tools/setup.sh --test-deps"; exit 77; }
export ONNXC_EXECUTABLE="$build/onnxc" PYTHONPATH="$PWD/python${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1
"$ONNXC_PYTHON" tests/contrib/schemas.py || exit 1
exec "$ONNXC_PYTHON" tests/contrib/check.py ${2:+"$2"}
