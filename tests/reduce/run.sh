#!/usr/bin/env bash
# `onnxc reduce`: what models become under checks of several kinds; see check.py.
#
#   tests/reduce/run.sh [BUILD_FOLDER]
exec "$(dirname "$0")/../run_check.sh" tests/reduce/check.py 'numpy, onnx' "$@"
