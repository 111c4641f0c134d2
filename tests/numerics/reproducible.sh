#!/usr/bin/env bash
# --math=reproducible: the same bits on machines with vectors of other widths.
#
#   tests/numerics/reproducible.sh [BUILD_FOLDER]
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
"$ONNXC_PYTHON" -c 'import numpy, onnx, onnxruntime' 2>/dev/null || { echo "skipped: no Python with onnxruntime; tools/setup.sh --test-deps"; exit 77; }
exec "$ONNXC_PYTHON" tests/numerics/reproducible.py "${1:-build}/onnxc"
