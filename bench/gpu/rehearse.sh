#!/usr/bin/env bash
# device.sh in the emulator of GPUs, without nvcc and on small models, so that it is known to work. It tells of faults, too: a program that
# answers wrongly, and one that does not. Then whether docs/performance-gpu.md is what page.py makes.
#
#   bench/gpu/rehearse.sh
#
# ONNXC_BUILD names the build folder (default: build). Exit code 77 where something that is needed is not there.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT
export ONNXC_GPU_SECONDS=0.01 ONNXC_GPU_COPY_BYTES=1048576 ONNXC_GPU_SHRINK=16
fail() { echo "rehearse.sh: $*"; exit 1; }

ONNXC_GPU_TESTS="words pack_rows" bench/gpu/prepare.sh --emulated "$out/folder" churn_mlp lenet5_digits mlperf_tiny_ic_int8
bench/gpu/device.sh "$out/folder" "$out/results"
python3 bench/gpu/page.py "$out/results/results.json" >"$out/page.md"
grep -q 'churn_mlp' "$out/page.md" || fail "a page has no models"
grep -q 'emulator' "$out/page.md" || fail "a page does not say that its times are the emulator's"

grep -q '"name": "gpu_map/' "$out/results/gpu_costs.json" && python3 -m json.tool "$out/results/gpu_costs.json" >"$out/costs.json" || fail "costs are not JSON"
if "$ONNXC_PYTHON" -c 'import numpy' 2>"$out/said"; then
  "$ONNXC_PYTHON" bench/fit_costs.py "$out/results/gpu_costs.json" --machine "the emulator" >"$out/rows"
  grep -q 'ONNXC_KERNEL(.name = "gpu_gemm"' "$out/rows" || fail "costs are not fitted"
fi

# A result that is wrong, a program that says nothing, a test that fails.
printf '\x00\x00\xc0\x7f' | dd of="$out/folder/units/churn_mlp/1.bin" conv=notrunc bs=4 seek=3 status=none
printf '#!/bin/sh\nexit 3\n' >"$out/folder/units/lenet5_digits/unit"
printf '#!/bin/sh\necho "{\\"name\\": \\"gpu_map/1\\", \\"cpu_time\\": 1.5}"\nkill -9 $$\n' >"$out/folder/costs"
printf '#!/bin/sh\n[ "$1" != --list-test-names-only ] || { echo "a test, that fails"; exit 1; }\nexit 42\n' >"$out/folder/tests/words"
if bench/gpu/device.sh "$out/folder" "$out/faulty" >"$out/said"; then fail "faults are not told"; fi
for line in 'churn_mlp  *WRONG' 'lenet5_digits  *NO ANSWER (3)' 'mlperf_tiny_ic_int8  *right' 'WRONG (42) words: a test, that fails' 'gpu_map/1  *1.5' 'ENDED EARLY (137)'; do
  grep -q "$line" "$out/said" || { cat "$out/said"; fail "not told: $line"; }
done
python3 bench/gpu/page.py "$out/faulty/results.json" | grep -q 'churn_mlp.*wrong' || fail "a page does not tell what is wrong"

python3 bench/gpu/page.py | diff -u docs/performance-gpu.md - || fail "docs/performance-gpu.md is not up to date: bench/gpu/page.py >docs/performance-gpu.md"
echo "right and faulty programs were told of, and the page is up to date"
