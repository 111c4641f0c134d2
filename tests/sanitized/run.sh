#!/usr/bin/env bash
# Emitted code under sanitizers. The program that runs units is built with the same ones, and gives each unit inputs, outputs and an arena behind which nobody may read or write.
#
#   tests/sanitized/run.sh [BUILD_FOLDER] KIND...
#
#   address    ONNX's node tests and small models: accesses beyond their objects, undefined behaviour, by g++
#   clang      the same by Clang, whose sanitizers know other kinds, and see vectors whose mask leaves lanes out
#   memory     a quarter of the node tests in memcheck: decisions and results that hang on memory which nobody wrote
#   threads    networks on two and four threads: races
#
# Each kind begins with faults that are planted in units, and must be found. ONNXC_SAMPLE=N takes one of N cases.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build=build
if [ -d "${1:-}" ]; then build="$1"; shift; fi
for needed in "$build/conformance" cmake g++; do command -v "$needed" >/dev/null || { echo "skipped: no $needed"; exit 77; }; done
"$build/conformance" node --list >/dev/null  # makes the suite
cases="$ONNXC_CACHE/conformance-$ONNX_VERSION"
out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT
failed=0

runner() {  # NAME COMPILER FLAGS: builds the program that runs units, $here
  here="build-sanitized/$1"
  cmake -S tests/cross -B "$here" -G Ninja -DCMAKE_CXX_COMPILER="$2" -DCMAKE_CXX_FLAGS="$3" >/dev/null
  cmake --build "$here" --target conformance_runner -j "${ONNXC_JOBS:-$(nproc)}" >"$out/log" || { cat "$out/log"; exit 1; }
  command="$PWD/$here/conformance_runner"
}

conformance() { ONNXC_CXX="${with:-$compiler}" "$build/conformance" "$@" --cxxflags "$flags" --runner "$command" --compile-limit 300 --run-limit 900 "${more[@]}"; }

planted() {  # WORDS CASE PLANT: what is planted in the unit of that case is reported in these words
  local said
  said="$(PLANT="$3" PLANT_CXX="$compiler" with="$PWD/tests/sanitized/plant.sh" conformance "$2" 2>&1)" && { echo "FAILED  '$3' in $2 is not seen"; failed=1; return; }
  grep -q "crashed with.*$1" <<<"$said" || { echo "FAILED  '$3' in $2 is not seen as '$1': $said"; failed=1; }
}

passes() { conformance "$@" --sample "${ONNXC_SAMPLE:-1}" || failed=1; }

address() {  # COMPILER SANITIZERS BEYOND SMALL: a count beyond 60 floats, and an arena below 240 of its 256 bytes, that are noticed
  compiler="$1" flags="-O0 -fsanitize=$2 -fno-sanitize-recover=all -fno-omit-frame-pointer -g1 -w" more=()
  export ASAN_OPTIONS=detect_stack_use_after_return=1
  runner "$1" "$1" "-fsanitize=address,undefined"
  planted 'use-after-poison\|unknown-crash' "$cases/node/test_add" "s/{60}/{$3}/"
  planted 'use-after-poison\|unknown-crash' "$cases/node/test_softmax_axis_0" "s/arena_bytes = 256/arena_bytes = $4/"
  planted 'signed integer overflow' "$cases/node/test_add" 's/^  return {};/  volatile int most = 2147483647; most = most + 1; return {};/'
  passes node simple pytorch-converted pytorch-operator
}

memory() {
  command -v valgrind >/dev/null || { echo "skipped: no valgrind"; return; }
  # memcheck knows no AVX-512. It keeps the validity of bits across vectors that g++ has made of loops at -O1, where code at -O0 takes it several times as long.
  compiler=g++ flags="-O1 -g1 -w" more=(--target x86-64-v3)
  runner memcheck g++ "-DONNXC_MEMCHECK -g1"
  command="valgrind -q --exit-on-first-error=yes --error-exitcode=99 $command"
  planted 'depends on uninitialised' "$cases/node/test_softmax_axis_0" '/y_rows, {3, 1}/d'
  ONNXC_SAMPLE="${ONNXC_SAMPLE:-4}" passes node
}

threads() {
  "$ONNXC_PYTHON" -c 'import onnx, onnxruntime' 2>/dev/null || { echo "skipped: no Python with onnxruntime"; return; }
  compiler=g++ flags="-O1 -g1 -w -fsanitize=thread" more=(--threads 4)
  export TSAN_OPTIONS=halt_on_error=1
  runner threads g++ "-fsanitize=thread"
  PYTHONDONTWRITEBYTECODE=1 "$ONNXC_PYTHON" tests/sanitized/cases.py "$out/networks"
  planted 'data race' "$out/networks/towers" 's/onnxc::Share share)\([^{]*\){/onnxc::Share share)\1{ share = {};/'
  passes "$out/networks"
  more=(--threads 2)
  passes "$out/networks"
  more=(--threads 4)
  passes "$(tests/zoo/folder.sh)" --filter '^(lenet5_digits|mlperf_tiny_kws_fp32|mlperf_tiny_ic_int8|random_forest_clf|gradient_boosting_reg|gpt2_mini_kv|llama_mini_kv|lstm_classifier|bert_mini|mobilenet_v3_small|tcn_audio)$'
}

[ $# -gt 0 ] || set -- address clang memory threads
for kind in "$@"; do
  echo "-- $kind"
  case "$kind" in
    address) address g++ address,undefined,float-cast-overflow,bounds-strict 64 128 ;;
    clang) if command -v clang++-19 >/dev/null; then address clang++-19 address,undefined,float-cast-overflow,local-bounds,nullability 61 236; else echo "skipped: no clang++-19"; fi ;;
    memory | threads) $kind ;;
    *) echo "unknown: $kind"; exit 2 ;;
  esac
done
exit $failed
