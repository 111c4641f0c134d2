#!/usr/bin/env bash
# Integer kernels against sums in numpy's 64 bits, to the bit, with the onnxc that was built.
#
#   tests/quantised/run.sh [BUILD_FOLDER [ARGUMENT...]]      60 forms of each kind; arguments are those of check.py: --all takes 200
exec "$(dirname "$0")/../run_check.sh" tests/quantised/check.py 'numpy, onnx' "$@"
