#!/usr/bin/env bash
# The backend tests of ONNX 1.12 (Debian's libonnx-testdata), which hold earlier opsets: all pass but those of faulty-1.12.txt.
# What they show beside run.sh is how nodes are brought to their latest form, which no optimisation changes: units are built with -O0.
#
#   tests/conformance/earlier.sh [FOLDER]
set -uo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="${ONNXC_BUILD:-build}"
folder="${1:-/usr/share/libonnx-testdata/data}"
[ -x "$build/conformance" ] || { echo "(no $build/conformance)"; exit 77; }
[ -d "$folder/node" ] || { echo "(no $folder: the Debian package libonnx-testdata, tools/setup.sh --test-deps)"; exit 77; }
output="$(mktemp)"
trap 'rm -f "$output"' EXIT
"$build/conformance" "$folder"/{node,simple,pytorch-converted,pytorch-operator} --cxxflags "-O0 -w" --report "$build/conformance-1.12.json" | tee "$output"
failed="$(grep '^failed ' "$output" | cut -d' ' -f2 | tr -d : | sort)"
named="$(grep -v '^#' tests/conformance/faulty-1.12.txt | cut -d' ' -f1 | sort)"
others="$(comm -23 <(echo "$failed") <(echo "$named"))"
[ -z "$others" ] || { printf 'not named in faulty-1.12.txt:\n%s\n' "$others"; exit 1; }
grep -q '^all: .*, 0 unsupported of' "$output" || { echo "some case is not supported, or none was run"; exit 1; }
echo "every case passes but $(grep -c . <<<"$failed") of those that are at fault themselves (tests/conformance/faulty-1.12.txt)"
