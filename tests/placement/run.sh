#!/usr/bin/env bash
# Small networks in which values lie inside of others, or weights change for the run, against ONNX Runtime, with the onnxc that was built.
#
#   tests/placement/run.sh [BUILD_FOLDER]
exec "$(dirname "$0")/../run_check.sh" tests/placement/check.py 'numpy, onnx, onnxruntime' "$@"
