#!/usr/bin/env bash
# Integer kernels against sums in numpy's 64 bits, to the bit, with the onnxc that was built.
#
#   tests/quantised/run.sh [BUILD_FOLDER]
exec "$(dirname "$0")/../run_check.sh" tests/quantised/check.py 'numpy, onnx' "$@"
