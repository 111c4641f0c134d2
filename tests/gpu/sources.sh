#!/usr/bin/env bash
# Units for GPUs as compilers see them. One file that is made with --standalone needs no header, and gives in the emulator what a unit with
# headers gives. nvcc compiles it, and a unit whose steps are mostly on the host, without a warning, where there is nvcc.
#
#   tests/gpu/sources.sh [BUILD_FOLDER]
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="$(cd "${1:-build}" && pwd)"
[ -x "$build/onnxc" ] || { echo "(no $build/onnxc)"; exit 77; }
out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT

mkdir "$out/alone"
"$build/onnxc" samples/digits/digits.onnx -o "$out/alone/digits.cu" --target=cuda-sm80 --standalone
cp samples/cuda/main.cpp "$out/alone/main.cpp"
if grep -n '#include <onnxc/\|#include "onnxc/' "$out"/alone/digits.*; then echo "a standalone unit includes onnxc's headers"; exit 1; fi
"${CXX:-g++}" -std=c++20 -O1 -march=native -Wall -Wextra -Wpedantic -Werror "$out/alone/main.cpp" -x c++ "$out/alone/digits.cu" -o "$out/alone/digits"
"$out/alone/digits" samples/digits/digit.pgm samples/digits/expected.txt

nvcc="${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}"
command -v "$nvcc" >/dev/null || { echo "(no nvcc: nothing was compiled for a GPU)"; exit 0; }
compile() {  # compile FOLDER NAME MARCH [FLAG...]
  "$nvcc" -std=c++20 -O1 -arch=sm_80 --extended-lambda --expt-relaxed-constexpr -Werror all-warnings -Xcompiler "-Wall,-Wextra,-Werror,-march=$3" \
    "${@:4}" -c "$1/$2.cu" -o "$out/$2.o"
  echo "nvcc: $2, no warning"
}
compile "$out/alone" digits native
for march in x86-64-v3 x86-64-v4; do
  [ -f "$ONNXC_CACHE/zoo/silero_vad/model.onnx" ] || continue
  "$build/onnxc" "$ONNXC_CACHE/zoo/silero_vad/model.onnx" -o "$out/host_$march.cu" --namespace mixed --target="cuda-sm80+$march"
  compile "$out" "host_$march" "$march" -Iruntime_stub
done
