#!/usr/bin/env bash
# Random quantised networks, on what onnxc emits, against ONNX Runtime without optimisations. See docs/differential.md.
#
#   tests/differential/quantised.sh                60 networks
#   tests/differential/quantised.sh --all          1000
#   tests/differential/quantised.sh --case 17 --layers 2 --keep faults      what quantised_graphs.py takes
#
# ONNXC_BUILD names the build folder (default: build).
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="$(cd "${ONNXC_BUILD:-build}" && pwd)"
"$ONNXC_PYTHON" -c 'import ml_dtypes, onnx, onnxruntime' 2>/dev/null || { echo "no Python with onnxruntime: tools/setup.sh --test-deps"; exit 77; }
export ONNXC_EXECUTABLE="$build/onnxc" PYTHONPATH=python PYTHONDONTWRITEBYTECODE=1
[ "${1:-}" != --all ] || { shift; set -- --cases 1000 "$@"; }
[ $# -gt 0 ] || set -- --cases 60
exec "$ONNXC_PYTHON" tests/differential/quantised_graphs.py "$@"
