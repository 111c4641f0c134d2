#!/usr/bin/env bash
# ONNX's backend tests on what onnxc emits. A wrong answer fails; what is not supported yet is counted and listed.
#
#   tests/conformance/run.sh          node tests and the small models
#   tests/conformance/run.sh --all    also the large networks of the suite `light`
#
# ONNXC_BUILD names the build folder (default: build). The report goes there: conformance.json.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="${ONNXC_BUILD:-build}"
[ -x "$build/conformance" ] || { echo "(no $build/conformance)"; exit 77; }
suites=(node simple pytorch-converted pytorch-operator)
[ "${1:-}" != --all ] || suites+=(light)
exec "$build/conformance" "${suites[@]}" --report "$build/conformance.json"
