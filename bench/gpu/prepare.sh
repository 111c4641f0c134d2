#!/usr/bin/env bash
# Compiles all that device.sh runs into a folder, so that no time on a GPU goes to compilers: the kernels' tests, what measures the machine,
# and units of the zoo with their inputs and expected outputs.
#
#   bench/gpu/prepare.sh [--emulated] FOLDER [MODEL...]
#
# nvcc compiles it for compute capability 9.0 (ONNXC_GPU_ARCHITECTURE=sm80: 8.0); --emulated: $CXX for the emulator of GPUs. ONNXC_BUILD names
# the build folder (default: build), ONNXC_GPU_TESTS some of the kernels' tests. Exit code 77 where something that is needed is not there.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
emulated=
[ "${1:-}" != --emulated ] || { emulated=yes; shift; }
[ $# -gt 0 ] || { sed -n 5p "$0" >&2; exit 2; }
folder="$1" models=("${@:2}")
[ ${#models[@]} -gt 0 ] || models=(churn_mlp lenet5_digits lstm_classifier mlperf_tiny_ic_int8 squeezenet1_1 mobilenet_v2)
tests=(${ONNXC_GPU_TESTS:-words rows gather scatter pool_bytes sum_bytes pack_rows gemv gemv_nbits attention conv_depthwise exact gemm conv})
architecture="${ONNXC_GPU_ARCHITECTURE:-sm90}"
build="${ONNXC_BUILD:-build}" zoo="$ONNXC_CACHE/zoo"
[ -x "$build/onnxc" ] || { echo "(no $build/onnxc)"; exit 77; }
cxx="${CXX:-g++}"
if [ -n "$emulated" ]; then
  compiler=("$cxx" -x c++ -pthread -march=x86-64-v3)
else
  nvcc="${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}"
  command -v "$nvcc" >/dev/null || { echo "skipped: no nvcc"; exit 77; }
  compiler=("$nvcc" -x cu "-arch=${architecture/sm/sm_}" --extended-lambda --expt-relaxed-constexpr -Xcompiler -march=x86-64-v3)
fi
out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT

# compile LEVEL SOURCE OBJECT [FLAG...]
compile() { "${compiler[@]}" -std=c++20 "$1" -w -I. -Iruntime_stub "${@:4}" -c "$2" -o "$3"; }
link() { if [ -n "$emulated" ]; then "$cxx" -pthread -s "${@:2}" -o "$1"; else "$nvcc" -cudart static "${@:2}" -o "$1"; strip "$1"; fi; }

mkdir -p "$folder/tests" "$folder/units"
compile -O2 bench/gpu/machine.cpp "$out/machine.o"
link "$folder/machine" "$out/machine.o"
compile -O2 bench/gpu/costs.cpp "$out/costs.o"
link "$folder/costs" "$out/costs.o"

"$cxx" -std=c++20 -O1 -w -c tests/catch_main.cpp -o "$out/main.o"
for name in ${tests[@]+"${tests[@]}"}; do
  compile -O1 "tests/kernels/gpu/$name.cpp" "$out/test.o"
  link "$folder/tests/$name" "$out/test.o" "$out/main.o"
done

count=0
for model in "${models[@]}"; do
  [ -f "$zoo/$model/model.onnx" ] || { echo "(no $model)"; continue; }
  count=$((count + 1))
  "$build/onnxc" "$zoo/$model/model.onnx" -o "$out/$model.cu" --namespace "$model" --target="cuda-$architecture+x86-64-v3" --devices=gpu,cpu
  "$ONNXC_PYTHON" bench/gpu/data.py "$zoo/$model/model.onnx" "$folder/units/$model"
  compile -O2 "$out/$model.cu" "$out/unit.o"
  compile -O2 bench/gpu/unit.cpp "$out/runner.o" "-DMODEL=${model}_model"
  link "$folder/units/$model/unit" "$out/unit.o" "$out/runner.o"
done
[ $count -gt 0 ] || { echo "(no models in $zoo)"; exit 77; }
git rev-parse --short=10 HEAD >"$folder/commit" 2>/dev/null || echo unknown >"$folder/commit"
megabytes=$(du -sm "$folder" | cut -f1)
echo "$count units, ${#tests[@]} tests of kernels, $megabytes MiB"
[ "$megabytes" -le 60 ] || { echo "more than 60 MiB do not get to the device"; exit 1; }
