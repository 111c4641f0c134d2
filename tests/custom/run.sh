#!/usr/bin/env bash
# Custom operators, from the command line to their results; see check.py.
#
#   tests/custom/run.sh [BUILD_FOLDER]
exec "$(dirname "$0")/../run_check.sh" tests/custom/check.py 'numpy, onnx' "$@"
