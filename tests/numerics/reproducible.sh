#!/usr/bin/env bash
# --math=reproducible: the same bits on machines with vectors of other widths, on other processors, by other compilers; and what -ffast-math would do to that.
#
#   tests/numerics/reproducible.sh [BUILD_FOLDER [--all]]      --all: each network on every machine that can be emulated here, as a table (bits.py)
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
"$ONNXC_PYTHON" -c 'import numpy, onnx, onnxruntime' 2>/dev/null || { echo "skipped: no Python with onnxruntime; tools/setup.sh --test-deps"; exit 77; }
build="${1:-build}"
export ONNXC_EXECUTABLE="$PWD/$build/onnxc" PYTHONDONTWRITEBYTECODE=1
if [ "${2:-}" = --all ]; then exec "$ONNXC_PYTHON" tests/numerics/bits.py --all; fi
tests/numerics/fast_math.sh "$build"
"$ONNXC_PYTHON" tests/numerics/bits.py
"$ONNXC_PYTHON" tests/numerics/reproducible.py "$build/onnxc"
