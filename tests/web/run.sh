#!/usr/bin/env bash
# The sample page, in headless Chromium: a model in WebAssembly gives the scores that are stored beside it.
#
#   tests/web/run.sh [BUILD] [PICTURE.png]    PICTURE: where to leave a picture of the page
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
export ONNXC="${1:-build}/onnxc"
for needed in "$ONNXC" clang++-19 wasm-ld-19 chromium; do
  command -v "$needed" >/dev/null || { echo "skipped: no $needed; tools/setup.sh --cross-deps --test-deps installs compilers and Chromium"; exit 77; }
done
out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT
samples/web/build.sh "$out/page.html"
PYTHONPATH=tests/report "$ONNXC_PYTHON" tests/web/check.py "$out/page.html" "${2:-}"
