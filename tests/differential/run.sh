#!/usr/bin/env bash
# Random cases of each operator, on what onnxc emits, against ONNX Runtime and onnx.reference. See docs/differential.md.
#
#   tests/differential/run.sh                    some of each operator
#   tests/differential/run.sh --all              6000 cases, built with -O1 instead of -O0
#   tests/differential/run.sh --cases 500 --seed 7 --filter '^Conv'
#
# The first two have 300 random forests more.
#
# ONNXC_BUILD names the build folder (default: build). Cases lie in its folders `differential` and `forests`, and the reports beside them: differential.json, forests.json.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="${ONNXC_BUILD:-build}"
[ -x "$build/conformance" ] || { echo "(no $build/conformance)"; exit 77; }
"$ONNXC_PYTHON" -c 'import ml_dtypes, onnx, onnxruntime' 2>/dev/null || { echo "no Python with onnxruntime: tools/setup.sh --test-deps"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1
cases=400 level=-O0
[ "${1:-}" != --all ] || { cases=6000 level=-O1; shift; }

code=0
check() {  # check NAME GENERATE'S ARGUMENTS...
  local name="$1"
  shift
  "$ONNXC_PYTHON" tests/differential/generate.py "$build/$name" "$@" || return
  "$build/conformance" "$build/$name" --keep-subnormals --cxxflags "$level -w" --report "$build/$name.json" || code=$?
  "$ONNXC_PYTHON" tests/differential/refusals.py "$build/$name.json" || code=1
}
check differential --cases "$cases" "$@" || code=1
[ $# -gt 0 ] || check forests --cases 300 --filter '^TreeEnsemble' || code=1
exit $code
