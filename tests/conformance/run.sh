#!/usr/bin/env bash
# ONNX's backend tests on what onnxc emits. A wrong answer fails; what is not supported yet is counted and listed.
#
#   tests/conformance/run.sh          node tests and the small models at -O0, one of twelve node tests at -O1
#   tests/conformance/run.sh --all    all at -O1, also the large networks of the suite `light`
#
# ONNXC_BUILD names the build folder (default: build). The report goes there: conformance.json.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="${ONNXC_BUILD:-build}"
[ -x "$build/conformance" ] || { echo "(no $build/conformance)"; exit 77; }
suites=(node simple pytorch-converted pytorch-operator) level=(--cxxflags "-O0 -w")
[ "${1:-}" != --all ] || { suites+=(light) level=(); }

# The judge is tested first: a case whose expected output is another case's must fail.
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
"$build/conformance" node --list >/dev/null  # makes the suite
cases="$ONNXC_CACHE/conformance-$ONNX_VERSION/node"
cp -r "$cases/test_add" "$folder/wrong"
cp "$cases/test_sub/test_data_set_0/output_0.pb" "$folder/wrong/test_data_set_0/output_0.pb"
cp -r "$cases/test_add" "$folder/right"
verdict="$("$build/conformance" "$folder" | tail -n 1)" && { echo "a wrong output passed"; exit 1; }
[[ "$verdict" == *": 1 passed, 1 failed, 0 unsupported of 2" ]] || { echo "unexpected: $verdict"; exit 1; }

# A header that is not installed fails the units that need it, says so, and fails no other of their group.
mkdir "$folder/headers"
echo '#include <not_installed.h>' >"$folder/headers/tiffio.h"
output="$("$build/conformance" node --filter '^test_(image_decoder_decode_(jpeg|png)_rgb|add|relu)$' --jobs 1 --cxxflags "-O0 -w -isystem $folder/headers")" && { echo "a unit without its header passed"; exit 1; }
[[ "$output" == *"is not installed"*": 2 passed, 2 failed, 0 unsupported of 4" ]] || { echo "unexpected: $output"; exit 1; }

[ ${#level[@]} = 0 ] || "$build/conformance" node --sample 12
"$build/conformance" "${suites[@]}" "${level[@]}" --report "$build/conformance.json"
