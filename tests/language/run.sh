#!/usr/bin/env bash
# What ONNX's graph language says beyond its operators: functions, broadcasting, branches. Small models, with the onnxc that was built.
#
#   tests/language/run.sh [BUILD_FOLDER]
exec "$(dirname "$0")/../run_check.sh" tests/language/check.py 'numpy, onnx' "$@"
