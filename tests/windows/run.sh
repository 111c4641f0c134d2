#!/usr/bin/env bash
# Units for Windows run under Wine, compiled by mingw-w64, and give what they should; weights as assembly are the right bytes for macOS and iOS.
#
#   tests/windows/run.sh [BUILD_FOLDER]          the digits sample, a transformer
#   tests/windows/run.sh BUILD_FOLDER --all      more networks, on three kinds of processors
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="$(cd "${1:-build}" && pwd)" all="${2:-}"
wine=/usr/lib/wine/wine64 compiler=x86_64-w64-mingw32-g++-posix
if ! command -v "$compiler" >/dev/null || [ ! -x "$wine" ]; then echo "no mingw-w64 or no Wine: tools/setup.sh --cross-deps"; exit 77; fi
"$ONNXC_PYTHON" -c 'import numpy, onnx' 2>/dev/null || { echo "no Python with numpy and onnx: tools/setup.sh --test-deps"; exit 77; }
work="$(mktemp -d)"
trap '/usr/lib/wine/wineserver64 -k 2>/dev/null || true; rm -rf "$work"' EXIT
export WINEPREFIX="$work/wine" WINEDEBUG=-all
passed=0 failed=0
tell() { if [ "$1" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED $2"; fi; }
moves=(-Wa,-muse-unaligned-vector-move -DONNXC_UNALIGNED_MOVES)
flags=(-O2 -std=c++20 -Iruntime_stub -static)

# The sample, as CMake builds it with a toolchain file.
cat >"$work/mingw.cmake" <<END
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_CXX_COMPILER $compiler)
set(CMAKE_EXE_LINKER_FLAGS -static)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
END
sed 's/NAMESPACE digits)/NAMESPACE digits TARGET x86-64-v3)/' samples/digits/CMakeLists.txt >"$work/CMakeLists.txt"
cp samples/digits/main.cpp samples/digits/digits.onnx "$work"
cmake -S "$work" -B "$work/digits" -DCMAKE_TOOLCHAIN_FILE="$work/mingw.cmake" -DCMAKE_PREFIX_PATH="$build" >/dev/null
cmake --build "$work/digits" >/dev/null
"$wine" "$work/digits/digits.exe" samples/digits/digit.pgm samples/digits/expected.txt >"$work/said" 2>&1 && status=0 || status=$?
tell $status "digits: $(tail -n 3 "$work/said")"

# Without the flags for the stack a unit with AVX says what to do.
"$build/onnxc" samples/digits/digits.onnx --target=x86-64-v3 -o "$work/unit.cpp"
"$compiler" "${flags[@]}" -march=x86-64-v3 -c "$work/unit.cpp" -o "$work/unit.o" 2>"$work/said" && status=1 || status=0
grep -q 'muse-unaligned-vector-move' "$work/said" || status=1
tell $status "the advice about the stack"

# Networks with weights of megabytes, as assembly.
folder="$(tests/zoo/folder.sh 2>/dev/null)" || folder=""
networks=(bert_mini) targets=(x86-64-v3)
[ "$all" != --all ] || { networks=(bert_mini mobilenet_v2 lightgbm_clf lstm_classifier); targets=(x86-64-v2 x86-64-v3 x86-64-v4); }
if [ -z "$folder" ]; then echo "(no networks: ../shared/zoo is not there)"; networks=(); fi
for network in "${networks[@]}"; do
  for target in "${targets[@]}"; do
    options=("${moves[@]}")
    [ "$target" != x86-64-v2 ] || options=()
    "$build/onnxc" "$folder/$network/model.onnx" --target="$target" --zipmap=tensor -o "$work/unit.cpp"
    "$compiler" "${flags[@]}" "${options[@]}" -march="$target" tests/windows/call.cpp "$work/unit.cpp" -I"$work" -o "$work/call.exe"
    "$ONNXC_PYTHON" -B tests/windows/check.py "$folder/$network" "$work" "$wine" "$work/call.exe" >"$work/said" 2>&1 && status=0 || status=$?
    tell $status "$network, $target: $(tail -n 3 "$work/said")"
  done
done

# Weights for Apple's machines: the assembly of the unit, assembled for each, holds the bytes that it holds for ELF.
if command -v clang++-19 >/dev/null && command -v llvm-objcopy-19 >/dev/null; then
  model="${folder:+$folder/bert_mini/model.onnx}"
  "$build/onnxc" "${model:-samples/digits/digits.onnx}" --target=aarch64 --weights=asm -o "$work/apple.cpp"
  # What the preprocessor chooses of the asm statements, without the headers.
  sed -n '/^#if (defined(__GNUC__) || defined(__clang__)) && (defined(__ELF__)/,/^extern "C"/p' "$work/apple.cpp" | sed '$d' >"$work/weights.cpp"
  echo '#endif' >>"$work/weights.cpp"
  image() { clang++-19 --target="$1" -c "$work/weights.cpp" -o "$work/$1.o" && llvm-objcopy-19 --dump-section "$2=$work/$1.bin" "$work/$1.o" "$work/copy.o"; }
  image aarch64-linux-gnu .rodata.onnxc
  for apple in arm64-apple-macos arm64-apple-ios x86_64-apple-macos; do
    image "$apple" __TEXT,__const && cmp -s "$work/aarch64-linux-gnu.bin" "$work/$apple.bin" && [ -s "$work/$apple.bin" ] && status=0 || status=$?
    tell $status "$apple"
  done
  image x86_64-pc-windows-msvc .rdata && cmp -s -n "$(stat -c %s "$work/aarch64-linux-gnu.bin")" "$work/aarch64-linux-gnu.bin" "$work/x86_64-pc-windows-msvc.bin" && status=0 || status=$?
  tell $status "x86_64-pc-windows-msvc"
else echo "(no clang 19: tools/setup.sh --check-deps)"; fi
echo "Windows, macOS, iOS: $passed passed, $failed failed"
[ $failed = 0 ]
