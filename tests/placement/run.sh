#!/usr/bin/env bash
# Small networks in which values lie inside of others, or weights change for the run, against ONNX Runtime, with the onnxc that was built.
#
# Many units are built in one, with -O0 (tests/units.py), as the steps that lowering chooses are what is tested. With ONNXC_UNITS_LEVEL=-O3 they are built as for use.
#
#   tests/placement/run.sh [BUILD_FOLDER [--all] [--gpu]]      see check.py
exec "$(dirname "$0")/../run_check.sh" tests/placement/check.py 'numpy, onnx, onnxruntime' "$@"
