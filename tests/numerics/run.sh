#!/usr/bin/env bash
# What docs/numerics.md promises of convolutions and products, with the onnxc that was built.
#
# Many units are built in one, with -O1 (tests/units.py): sums are contracted and reordered there as at -O3. With ONNXC_UNITS_LEVEL=-O3 they are built as for use.
#
#   tests/numerics/run.sh [BUILD_FOLDER]
export ONNXC_UNITS_LEVEL="${ONNXC_UNITS_LEVEL:--O1}"
exec "$(dirname "$0")/../run_check.sh" tests/numerics/check.py 'ml_dtypes, numpy, onnx, onnxruntime' "$@"
