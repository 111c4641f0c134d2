#!/usr/bin/env bash
# Memory, files, disks and signals fail onnxc at each moment in turn: it says so in one line, and leaves the old files as they were, all of
# them, and nothing else. See check.py.
#
#   tests/faults/run.sh [BUILD_FOLDER [--all] [--only REGEX]]      a sample of all moments; --all: each of files, thousands of memory
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="$(cd "${1:-build}" && pwd)"
[ -x "$build/onnxc" ] || { echo "(no $build/onnxc)"; exit 77; }
"$ONNXC_PYTHON" -c 'import onnx, numpy' 2>/dev/null || { echo "(no Python with onnx; tools/setup.sh --test-deps makes one)"; exit 77; }
if grep -q '^ONNXC_SANITIZE:STRING=..*' "$build/CMakeCache.txt" 2>/dev/null; then echo "(a sanitizer has an allocator of its own)"; exit 77; fi
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cc -std=gnu11 -O1 -Wall -Wextra -Werror -shared -fPIC tests/faults/faults.c -o "$work/faults.so"
"$ONNXC_PYTHON" -B tests/faults/check.py "$build/onnxc" "$work" "${@:2}"
