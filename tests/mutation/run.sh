#!/usr/bin/env bash
# Changes one thing at a time in copies of the kernels and of the passes, and asks whether the tests notice. See check.py.
#
#   tests/mutation/run.sh [--area kernels|passes] [--count N] [--seed N] [...]      --help has the rest
#   tests/mutation/run.sh --few                                                      a few changes that must be noticed, in seconds
#
# ONNXC_BUILD names the build folder (default: build).
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
export PYTHONDONTWRITEBYTECODE=1
if [ "${1:-}" = --few ]; then exec python3 tests/mutation/few.py; fi
exec python3 tests/mutation/check.py "$@"
