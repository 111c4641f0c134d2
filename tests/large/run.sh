#!/usr/bin/env bash
# Large models: memory of the compiler, results of the units. --all: weights of 2.5 to 6 GB. ONNXC_BUILD is the build folder, `build` by default.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
exec "$root/tests/run_check.sh" tests/large/check.py 'numpy, onnx' "${ONNXC_BUILD:-build}" "$@"
