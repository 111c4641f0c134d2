#!/usr/bin/env bash
# onnxc tune and --tune: what is measured is kept and obeyed, results stay right, and without --tune nothing changes. Times are not looked at.
#
#   tests/tune/run.sh [BUILD_FOLDER]
exec "$(dirname "$0")/../run_check.sh" tests/tune/check.py 'numpy, onnx, onnxruntime' "$@"
