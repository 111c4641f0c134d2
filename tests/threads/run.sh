#!/usr/bin/env bash
# Networks with branches on one thread and on several, with the onnxc that was built.
#
#   tests/threads/run.sh [BUILD_FOLDER]
exec "$(dirname "$0")/../run_check.sh" tests/threads/check.py 'numpy, onnx, onnxruntime' "$@"
