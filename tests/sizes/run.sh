#!/usr/bin/env bash
# Units with dimensions, called with ones that no memory holds, under sanitizers.
#
#   tests/sizes/run.sh [BUILD_FOLDER]
exec "$(dirname "$0")/../run_check.sh" tests/sizes/check.py 'numpy, onnx' "$@"
