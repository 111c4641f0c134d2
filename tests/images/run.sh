#!/usr/bin/env bash
# ImageDecoder on images made here and on damaged ones; see check.py.
#
#   tests/images/run.sh [BUILD_FOLDER]
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="$(cd "${1:-build}" && pwd)"
"$ONNXC_PYTHON" -c 'import onnx, numpy' 2>/dev/null || { echo "(no Python with onnx; tools/setup.sh --test-deps makes one)"; exit 77; }
printf '#include <onnxc/image/decode.hpp>\n' | "${CXX:-g++}" -std=c++20 -fsyntax-only -Iruntime_stub -xc++ - 2>/dev/null || {
  echo "(the libraries of image formats are not there; tools/setup.sh --test-deps installs them)"
  exit 77
}
export ONNXC_EXECUTABLE="$build/onnxc" PYTHONPATH=python PYTHONDONTWRITEBYTECODE=1
exec "$ONNXC_PYTHON" tests/images/check.py
