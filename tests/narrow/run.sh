#!/usr/bin/env bash
# Weights that are stored narrower: the same results to the bit, in fewer bytes, with the onnxc that was built.
#
#   tests/narrow/run.sh [BUILD_FOLDER]
exec "$(dirname "$0")/../run_check.sh" tests/narrow/check.py 'numpy, onnx' "$@"
