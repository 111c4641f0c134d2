#!/usr/bin/env bash
# What onnxc itself takes of memory for a large model, against the model's size. ONNXC_BUILD is the build folder, `build` by default.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
. "$root/tools/env.sh"
if ! "$ONNXC_PYTHON" -c 'import numpy, onnx' 2>/dev/null; then echo "skipped: $ONNXC_PYTHON has no onnx; tools/setup.sh --test-deps installs it"; exit 77; fi
exec "$ONNXC_PYTHON" "$root/tests/memory/peak.py" "$root/${ONNXC_BUILD:-build}/onnxc" "$@"
