#!/usr/bin/env bash
# A project that takes onnxc's sources by FetchContent has the model in its program, and nothing else of onnxc in what it builds and installs.
#
#   tests/downstream/fetch.sh [BUILD_FOLDER]            how it is configured
#   tests/downstream/fetch.sh BUILD_FOLDER --all        also built, which compiles onnxc once more, into build-fetched, at -O0: it is about rules
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
export AT_LEVEL=-O0 AT_LEVEL_CXX="${CXX:-c++}" CXX="$PWD/tests/at_level.sh"
out="$PWD/build-fetched" log="$(mktemp)"
trap 'rm -f "$log"' EXIT
quietly() { "$@" >"$log" 2>&1 || { tail -n 40 "$log"; echo "FAILED: $*"; exit 1; }; }

quietly cmake -S tests/downstream/fetched -B "$out" -G Ninja -DONNXC="$PWD"
grep -q '^CMAKE_BUILD_TYPE:STRING=$' "$out/CMakeCache.txt" || { echo "FAILED: onnxc sets the project's kind of build"; exit 1; }
! grep -q _deps "$out/cmake_install.cmake" || { echo "FAILED: onnxc is installed with the project"; exit 1; }
ninja -C "$out" -t commands all >"$log"
grep -q -- '-o _deps/onnxc-build/onnxc ' "$log" || { echo "FAILED: the build does not make onnxc"; exit 1; }
for more in conformance graph_opt; do ! grep -q -- "-o _deps/onnxc-build/$more " "$log" || { echo "FAILED: the build makes $more, too"; exit 1; }; done
if [ "${2:-}" = --all ]; then
  quietly cmake --build "$out"
  "$out/one"
fi
echo "onnxc as a part of another project: right"
