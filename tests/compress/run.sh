#!/usr/bin/env bash
# onnxc compress: channels that are planted to be superfluous go and change nothing; what it writes runs in ONNX Runtime and in onnxc; trained models keep their accuracy; bad
# input is refused.
#
#   tests/compress/run.sh [BUILD_FOLDER]
exec "$(dirname "$0")/../run_check.sh" tests/compress/check.py 'numpy, onnx, onnxruntime' "$@"
