#!/usr/bin/env bash
# onnxc verify: right units pass, each kind of planted fault is found, and what was not compared is told; see check.py.
#
#   tests/verify/run.sh [BUILD_FOLDER [--all]]      with --all also on ONNX's backend tests; see suite.py
set -euo pipefail
run() { "$(dirname "$0")/../run_check.sh" "$@"; }
run tests/verify/check.py 'numpy, onnx' "${1:-build}"
[ "${2:-}" != --all ] || run tests/verify/suite.py onnx "$1"
