#!/usr/bin/env bash
# nvcc compiles units of the zoo's models for GPUs, for each compute capability that onnxc has a target for: without a warning, and without a
# register that is spilled. Products use tensor cores. Reference kernels alone, which `each` calls, may have arrays in memory.
#
#   tests/gpu/nvcc_units.sh [--all] [MODEL...]      six that have most kernels, where none is given; --all: all that are there
#
# What was compiled before is remembered in $ONNXC_CACHE, by a hash of all that goes in. ONNXC_BUILD names the build folder (default: build),
# ONNXC_GPU_ARCHITECTURES the targets (default: "sm80 sm90"). Exit code 77 where there is no nvcc, no onnxc or no model. NVCC names another one.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
nvcc="${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}"
command -v "$nvcc" >/dev/null || { echo "skipped: no nvcc"; exit 77; }
build="${ONNXC_BUILD:-build}"
[ -x "$build/onnxc" ] || { echo "(no $build/onnxc)"; exit 77; }
zoo="$ONNXC_CACHE/zoo"
models=("$@")
[ $# -gt 0 ] || models=(churn_mlp lenet5_digits lstm_classifier mlperf_tiny_ic_int8 bert_mini resnet18)
[ "${1:-}" != --all ] || models=($(ls "$zoo"))

out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT
cache="$ONNXC_CACHE/gpu-units"
mkdir -p "$cache"
version="$("$nvcc" --version | grep -o 'V[0-9.]*' | tail -n 1)"
flags=(-std=c++20 -O3 --extended-lambda --expt-relaxed-constexpr -Iruntime_stub -Werror all-warnings
       -Xptxas -v,-warn-spills,-Werror -Xcompiler -Wall,-Wextra,-Werror,-march=x86-64-v3)

# compile MODEL ARCHITECTURE: a line for each kernel, in $out/rows
compile() {
  local unit="$out/$1.cu"
  "$build/onnxc" "$zoo/$1/model.onnx" -o "$unit" --target="cuda-$2+x86-64-v3" --devices=gpu,cpu --weights=file || return
  # Beside what a C++ compiler includes there is what nvcc does in the place of the emulator.
  local inputs key
  inputs="$(g++ -std=c++20 -march=x86-64-v3 -MM -Iruntime_stub -x c++ "$unit" | tr -d '\\\n' | cut -d: -f2) runtime_stub/onnxc/gpu/device_cuda.hpp runtime_stub/onnxc/gpu/host_cuda.hpp tests/gpu/kernels.py" || return
  key="$({ echo "$version $2 ${flags[*]}"; cat $inputs; } | sha256sum | cut -c1-24)"
  if [ ! -f "$cache/$key" ]; then
    "$nvcc" "${flags[@]}" -arch="${2/sm/sm_}" -keep -keep-dir "$out" -c "$unit" -o "$out/$1.o" 2>"$out/report" || { grep -vE '^ptxas info|^    0 bytes|^$' "$out/report"; return 1; }
    python3 tests/gpu/kernels.py "$1" "${2/sm/sm_}" "$out/report" "$out/$1.ptx" "$out/$1.o" >"$out/rows" || { cat "$out/rows"; return 1; }
    mv "$out/rows" "$cache/$key"
  fi
  cp "$cache/$key" "$out/rows"
}

wrong=0 found=0
for model in "${models[@]}"; do
  [ -f "$zoo/$model/model.onnx" ] || continue
  for architecture in ${ONNXC_GPU_ARCHITECTURES:-sm80 sm90}; do
    found=$((found + 1)) begin=$SECONDS
    if compile "$model" "$architecture"; then
      printf '  %-28s %s  %3d kernels, %2d on tensor cores  %4d s\n' "$model" "$architecture" "$(grep -c . "$out/rows" || true)" \
        "$(grep -cE ' (MatrixProduct|Attention)<' "$out/rows" || true)" $((SECONDS - begin))
    else
      wrong=$((wrong + 1))
      printf '  %-28s %s  WRONG\n' "$model" "$architecture"
    fi
  done
done
[ $found -gt 0 ] || { echo "(no models in $zoo)"; exit 77; }
echo "$found units by nvcc, $wrong wrong"
[ $wrong = 0 ]
