#!/usr/bin/env bash
# What docs/numerics.md promises of convolutions and products, with the onnxc that was built.
#
#   tests/numerics/run.sh [BUILD_FOLDER]
exec "$(dirname "$0")/../run_check.sh" tests/numerics/check.py 'numpy, onnx, onnxruntime' "$@"
