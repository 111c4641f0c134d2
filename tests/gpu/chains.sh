#!/usr/bin/env bash
# Chains of nodes that one kernel of a GPU computes, in the forms that exporters write, against ONNX Runtime.
#
#   tests/gpu/chains.sh [BUILD_FOLDER]
exec "$(dirname "$0")/../run_check.sh" tests/gpu/chains.py 'numpy, onnx, onnxruntime' "$@"
