#!/usr/bin/env bash
# Kernels and emitted units for AArch64, cross-compiled and run in an emulator.
#
#   tests/cross/aarch64.sh          kernel tests of what vectors are made of, a sample, the cases of ONNX's node suite whose operators have vector kernels
#   tests/cross/aarch64.sh --all    all kernel tests, the whole node suite and real models
#
# Needs what `tools/setup.sh --cross-deps` installs. ONNXC_BUILD names the build folder (default: build); build-aarch64 is made beside it.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="${ONNXC_BUILD:-build}"
compiler=aarch64-linux-gnu-g++ emulator=(qemu-aarch64 -L /usr/aarch64-linux-gnu)
for needed in "$compiler" "${emulator[0]}" "$build/onnxc" "$build/conformance"; do
  command -v "$needed" >/dev/null || { echo "skipped: no $needed; tools/setup.sh --cross-deps installs the cross compiler and the emulator"; exit 77; }
done
all=no
[ "${1:-}" != --all ] || all=yes

here="$build-aarch64"
cmake -S tests/cross -B "$here" -G Ninja --toolchain aarch64.cmake -DONNXC_CROSS_ALL_KERNELS="$([ $all = yes ] && echo ON || echo OFF)" >/dev/null
cmake --build "$here" -j "${ONNXC_JOBS:-$(nproc)}"

out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT
"${emulator[@]}" "$here/kernel_tests" >"$out/kernel_tests.out" 2>&1 &  # takes one processor, while units are built on the other
kernels=$!
echo "-- products of bytes with more instructions"
for more in dotprod i8mm; do "${emulator[@]}" -cpu max "$here/byte_tests_$more" | tail -1; done

echo "-- a sample, as a user builds it"
"$build/onnxc" samples/digits/digits.onnx --target=aarch64 --weights=object -o "$out/digits.cpp"
flags=(-std=c++20 -O3 -Wall -Wextra -Wpedantic -Wconversion -Werror -Iruntime_stub "-I$out")
"$compiler" "${flags[@]}" -c "$out/digits.cpp" -o "$out/digits.o"
"$compiler" "${flags[@]}" samples/digits/main.cpp "$out"/*.o -o "$out/digits"
"${emulator[@]}" "$out/digits" samples/digits/digit.pgm samples/digits/expected.txt
"$compiler" "${flags[@]}" -c tests/cross/product.cpp -o "$out/product.o"
python3 tests/cross/inner_loops.py "$out/product.o"

filter='^test_(conv|gemm|matmul|.*pool|batchnorm|softmax|reduce_(sum|max|mean)|layer_norm|relu|sigmoid|tanh|erf|lstm|transpose)'
[ $all = no ] || filter='^(?!test_image_decoder)'  # images need libraries for AArch64
level=-O0  # of units: the kernels' own tests are built with -O1, the sample with -O3
[ $all = no ] || level=-O1
run_units() {  # run_units SUITE_OR_FOLDER FILTER
  ONNXC_CXX="$compiler" "$build/conformance" "$1" --filter "$2" --target aarch64 --run-limit 300 --cxxflags "$level -w" \
    --runner "${emulator[*]} $here/conformance_runner"
}
echo "-- ONNX's node tests"
run_units node "$filter"
if [ $all = yes ]; then
  echo "-- whole networks: real ones, or those that are made"
  run_units "$(tests/zoo/folder.sh)" '^(lenet5_digits|churn_mlp|mlperf_tiny_kws_fp32|mobilenet_v3_small|tcn_audio|human_activity|deep_cross|blazeface|encoder|lstm_tagger)$'
fi

echo "-- kernels"
passed=0
wait "$kernels" || passed=$?
cat "$out/kernel_tests.out"
exit $passed
