#!/usr/bin/env bash
# Units whose arena and weights are spread over memories of several speeds, on this machine: results, and that nothing is written outside. See check.py.
#
#   tests/regions/run.sh [BUILD_FOLDER]
exec "$(dirname "$0")/../run_check.sh" tests/regions/check.py 'numpy, onnx, onnxruntime' "$@"
