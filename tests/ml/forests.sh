#!/usr/bin/env bash
# Whole forests give ONNX Runtime's results to the bit, at sizes of batches that reach every design of the kernels, on one thread and two.
#
# Many units are built in one, with -O1 (tests/units.py). Forests are those of the zoo where there is one, drawn ones, and trained ones after tools/setup.sh --bench-deps.
#
#   tests/ml/forests.sh [BUILD_FOLDER]
export ONNXC_UNITS_LEVEL="${ONNXC_UNITS_LEVEL:--O1}"
exec "$(dirname "$0")/../run_check.sh" tests/ml/forests.py 'numpy, onnx, onnxruntime' "$@"
