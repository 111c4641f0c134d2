#!/usr/bin/env bash
# Random valid models against ONNX Runtime, compiled in several ways; see graphs/campaign.py and docs/differential.md.
#
#   tests/hostile/graphs.sh                60 models
#   tests/hostile/graphs.sh --all          600
#   tests/hostile/graphs.sh --only 17 --keep FOLDER
#
# ONNXC_BUILD names the build folder (default: build).
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="${ONNXC_BUILD:-build}"
[ -x "$build/onnxc" ] || { echo "(no $build/onnxc)"; exit 77; }
"$ONNXC_PYTHON" -c 'import ml_dtypes, numpy, onnx, onnxruntime' 2>/dev/null || { echo "no Python with onnxruntime: tools/setup.sh --test-deps"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1 ONNXC_EXECUTABLE="$PWD/$build/onnxc" ONNXC_RANDOM_CACHE="$ONNXC_CACHE"  # units that did not change are not built again
count=60 ways=1
[ "${1:-}" != --all ] || { count=600 ways=2; shift; }
exec "$ONNXC_PYTHON" tests/hostile/graphs/campaign.py --count "$count" --ways "$ways" "$@"
