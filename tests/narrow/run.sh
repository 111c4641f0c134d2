#!/usr/bin/env bash
# Weights that are stored narrower: the same results to the bit, in fewer bytes, with the onnxc that was built.
#
# Many units are built in one, with -O0 (tests/units.py), as the steps that lowering chooses are what is tested. With ONNXC_UNITS_LEVEL=-O3 they are built as for use.
#
#   tests/narrow/run.sh [BUILD_FOLDER]
exec "$(dirname "$0")/../run_check.sh" tests/narrow/check.py 'numpy, onnx' "$@"
