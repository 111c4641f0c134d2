#!/usr/bin/env bash
# Units on small machines, in emulators: results, instructions, code, memory.
#
#   tests/firmware/run.sh          a Cortex-M4 and a Cortex-M55; figures are compared with golden/figures.txt, which UPDATE_GOLDEN=1 writes
#   tests/firmware/run.sh --all    every model on every machine
#
# Needs what `tools/setup.sh --cross-deps` installs. ONNXC_BUILD names the build folder (default: build).
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="${ONNXC_BUILD:-build}"
export ONNXC_EXECUTABLE="${ONNXC_EXECUTABLE:-$PWD/$build/onnxc}" PYTHONDONTWRITEBYTECODE=1
for needed in arm-none-eabi-g++ qemu-system-arm cc "$ONNXC_EXECUTABLE"; do
  command -v "$needed" >/dev/null || { echo "skipped: no $needed; tools/setup.sh --cross-deps installs compilers and emulators"; exit 77; }
done
"$ONNXC_PYTHON" -c 'import numpy, onnx, onnxruntime' 2>/dev/null || { echo "skipped: no Python with onnxruntime; tools/setup.sh --test-deps"; exit 77; }
check() { "$ONNXC_PYTHON" tests/firmware/check.py "$@"; }

"$ONNXC_PYTHON" tests/firmware/check_harness.py
echo "-- kernels with instructions of their own"
if [ "${1:-}" = --all ]; then "$ONNXC_PYTHON" tests/firmware/kernels.py; else "$ONNXC_PYTHON" tests/firmware/kernels.py --machines cortex-m4,cortex-m55; fi
check --machines cortex-m4,cortex-m55 --models made_ad,made_kws --levels O3,Os --golden
echo "-- the stack that units state"
check --machines cortex-m4 --models made_ad,made_kws --levels Os --option=--measure
echo "-- the same bits"
check --machines cortex-m0,cortex-m4 --models made_kws_int8 --levels Os --same-bits --option=--math=reproducible
echo "-- steps"
"$ONNXC_PYTHON" tests/firmware/steps.py
echo "-- memories of several speeds"
"$ONNXC_PYTHON" tests/firmware/regions.py
echo "-- the comparison with another compiler of models"
out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT
"$ONNXC_PYTHON" bench/firmware.py --models made_ad_fp32 --out "$out" 2>"$out/rows" || { cat "$out/rows"; exit 1; }
"$ONNXC_PYTHON" bench/firmware.py --from "$out/results.json" --page "$out/page.md"
[ "$(grep -c '^| made_ad_fp32 | [0-9]' "$out/page.md")" = 4 ] || { cat "$out/rows" "$out/page.md"; exit 1; }
if [ "${1:-}" = --all ]; then
  check --machines cortex-m4,cortex-m55 --models made_ic,made_vww --levels O3,Os --golden
  check --machines all --levels Os
fi
