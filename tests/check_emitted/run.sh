#!/usr/bin/env bash
# Rules for emitted code, checked by clang's libraries; see check.py.
#
#   tests/check_emitted/run.sh [BUILD_FOLDER] [--all]
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="$(cd "${1:-build}" && pwd)"
shift || true
grep -q '^build check_emitted:' "$build/build.ninja" 2>/dev/null || { echo "(no libraries of clang 19; tools/setup.sh --check-deps installs them)"; exit 77; }
cmake --build "$build" --target check_emitted onnxc conformance >/dev/null
"$build/conformance" node simple pytorch-converted pytorch-operator --list >/dev/null  # makes the suites
export ONNX_VERSION
"$ONNXC_PYTHON" -B tests/check_emitted/check.py "$build/check_emitted" "$build/onnxc" "$@"
