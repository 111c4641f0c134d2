#!/usr/bin/env bash
# ONNX's node tests on units for a GPU, in the emulator of GPUs: every case is right, and what stays on the host is what docs/gpu-operators.md says.
#
#   tests/gpu/conformance.sh             runs a tenth of the cases, chosen by a hash of their names
#   tests/gpu/conformance.sh --all       runs all of them
#   tests/gpu/conformance.sh --update    writes the page anew, and runs nothing
#
# ONNXC_BUILD names the build folder (default: build).
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="${ONNXC_BUILD:-build}"
[ -x "$build/conformance" ] || { echo "(no $build/conformance)"; exit 77; }
page=docs/gpu-operators.md

# Any processor beside the GPU would do, but pages must not depend on the machine.
"$build/conformance" node --target cuda-sm80+x86-64-v3 --compile-only --report "$build/gpu-conformance.json" >/dev/null || true  # the script tells what failed
python3 tools/conformance/gpu_operators_md.py "$build/gpu-conformance.json" >"$build/gpu-operators.md" || { echo "see $build/gpu-operators.md"; exit 1; }
if [ "${1:-}" = --update ]; then
  cp "$build/gpu-operators.md" "$page"
  exit
fi
diff -u "$page" "$build/gpu-operators.md" || { echo "$page is not up to date; tests/gpu/conformance.sh --update writes it anew"; exit 1; }
sample=10
[ "${1:-}" != --all ] || sample=1
# What units compute does not depend on the level, and most of the time goes to compiling them.
"$build/conformance" node --target cuda-sm80 --sample "$sample" --cxxflags "-O0 -w" --report "$build/gpu-conformance-runs.json"
