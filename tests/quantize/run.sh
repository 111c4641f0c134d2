#!/usr/bin/env bash
# onnxc quantize: what it writes runs in ONNX Runtime with the results of the model in floats, and in onnxc with those of ONNX Runtime; bad input is refused.
#
#   tests/quantize/run.sh [BUILD_FOLDER]
exec "$(dirname "$0")/../run_check.sh" tests/quantize/check.py 'numpy, onnx, onnxruntime' "$@"
