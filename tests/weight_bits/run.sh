#!/usr/bin/env bash
# onnxc --weight-bits: units compute what ONNX Runtime does with weights that were rounded in numpy, and are near the model in floats; what is no use is refused.
#
#   tests/weight_bits/run.sh [BUILD_FOLDER]
exec "$(dirname "$0")/../run_check.sh" tests/weight_bits/check.py 'numpy, onnx, onnxruntime' "$@"
