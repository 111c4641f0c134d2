#!/usr/bin/env bash
# Random valid graphs against ONNX Runtime, compiled in three ways; see random_graphs.py.
#
#   tests/hostile/graphs.sh                30 graphs
#   tests/hostile/graphs.sh --all          300
#   tests/hostile/graphs.sh --only 17 --keep FOLDER
#
# ONNXC_BUILD names the build folder (default: build).
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="${ONNXC_BUILD:-build}"
[ -x "$build/onnxc" ] || { echo "(no $build/onnxc)"; exit 77; }
"$ONNXC_PYTHON" -c 'import numpy, onnx, onnxruntime' 2>/dev/null || { echo "no Python with onnxruntime: tools/setup.sh --test-deps"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1 ONNXC_EXECUTABLE="$PWD/$build/onnxc"
count=30
[ "${1:-}" != --all ] || { count=300; shift; }
exec "$ONNXC_PYTHON" tests/hostile/graphs/campaign.py --count "$count" "$@"
