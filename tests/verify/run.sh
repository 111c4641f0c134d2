#!/usr/bin/env bash
# onnxc verify: right units pass, each kind of planted fault is found, and what was not compared is told; see check.py.
#
#   tests/verify/run.sh [BUILD_FOLDER]
exec "$(dirname "$0")/../run_check.sh" tests/verify/check.py 'numpy, onnx' "$@"
