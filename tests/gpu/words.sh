#!/usr/bin/env bash
# nvcc compiles every word of the vocabulary of GPU kernels, for each compute capability that onnxc has a target for: without a
# warning, without a register that is spilled, and with the instructions that a word stands for.
#
#   tests/gpu/words.sh [ARCHITECTURE]...      sm_80 and sm_90, where none is given
#
# Exit code 77 where there is no nvcc. NVCC names another one.
set -euo pipefail
cd "$(dirname "$0")/../.."
nvcc="${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}"
command -v "$nvcc" >/dev/null || { echo "skipped: no nvcc"; exit 77; }
[ $# -gt 0 ] || set -- sm_80 sm_90

out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT
flags=(-std=c++20 -O3 --extended-lambda --expt-relaxed-constexpr -I. -Iruntime_stub -Werror all-warnings
       -Xptxas -v,-warn-spills,-Werror -Xcompiler -Wall,-Wextra,-Werror)
for architecture; do
  "$nvcc" "${flags[@]}" -arch="$architecture" -keep -keep-dir "$out" -c tests/gpu/words.cu -o "$out/words.o" 2>"$out/report" || { cat "$out/report"; exit 1; }
  kernels="$(grep -c 'Compiling entry function' "$out/report")"
  if grep -E '[1-9][0-9]* bytes (stack frame|spill)' "$out/report"; then
    echo "$architecture: a kernel keeps registers in memory"
    exit 1
  fi
  for instruction in cp.async.cg.shared.global cp.async.commit_group cp.async.wait_group cvt.rna.tf32.f32 shfl.sync.bfly shfl.sync.idx vote.sync.ballot \
    bar.sync ld.global.v4 st.global.v4 st.global.v2 '(atom|red).global.max' atom.global.add 'membar.gl|fence.acq_rel.gpu' \
    mma.sync.aligned.m16n8k8.row.col.f32.tf32 mma.sync.aligned.m16n8k16.row.col.f32.f16 mma.sync.aligned.m16n8k16.row.col.f32.bf16 \
    mma.sync.aligned.m16n8k32.row.col.s32.{s8.s8,u8.u8,u8.s8,s8.u8}; do
    grep -qE "$instruction" "$out"/words.ptx || { echo "$architecture: no $instruction"; exit 1; }
  done
  if nm -C "$out/words.o" | grep -E ' [WVu] .*gpu::(launch|entry|Queue::call)<'; then
    echo "$architecture: the linker would share what starts kernels with units for other GPUs"
    exit 1
  fi
  echo "$architecture: $kernels kernels, nothing spilled"
done
