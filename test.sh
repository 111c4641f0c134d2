#!/usr/bin/env bash
# Builds onnxc and passes its tests.
#
#   ./test.sh          what a change must pass
#   ./test.sh --all    also the long ones: sanitizers, every form of emitted code on every compiler, the whole conformance suite
#
# Each stage is one line of the list at the end. A stage whose script or program does not exist is skipped and says so.
# docs/design/testing.md has what each takes, and says where a shorter stage leaves its evidence.
set -uo pipefail
cd "$(dirname "$0")"

all=no
for argument in "$@"; do
  case "$argument" in
    --all) all=yes ;;
    -h | --help) sed -n '2,/^set /s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "test.sh: unknown option $argument (see --help)" >&2; exit 2 ;;
  esac
done

jobs="${ONNXC_JOBS:-$(nproc)}"
results=() failed=0
# stage NAME COMMAND...: runs it, remembers how it ended. Exit status 77 means: there was nothing to test.
stage() {
  local start=$SECONDS code=0
  printf '\n==== %s\n' "$1"
  "${@:2}" </dev/null || code=$?
  remember "$1" $code $((SECONDS - start))
  return $code
}
remember() {  # NAME STATUS SECONDS
  case $2 in
    0) results+=("passed   $1 ($3 s)") ;;
    77) results+=("skipped  $1") ;;
    *) results+=("FAILED   $1 (exit status $2)"); failed=1 ;;
  esac
}
# beside NAME COMMAND...: begins a stage beside at most one other; `join` waits for all such and shows what they wrote.
besides=() beside_output="$(mktemp -d)"
trap 'rm -rf "$beside_output"' EXIT
beside() {
  while [ "$(jobs -pr | wc -l)" -ge 2 ]; do wait -n || true; done
  local at="$beside_output/${#besides[@]}"
  besides+=("$1")
  echo "(begins: $1)"
  { start=$SECONDS code=0; "${@:2}" </dev/null >"$at.out" 2>&1 || code=$?; echo "$code $((SECONDS - start))" >"$at.end"; } &
}
join() {
  wait
  local i code seconds
  for i in "${!besides[@]}"; do
    printf '\n==== %s\n' "${besides[i]}"
    cat "$beside_output/$i.out"
    read -r code seconds <"$beside_output/$i.end" || code=1 seconds=0
    remember "${besides[i]}" "$code" "$seconds"
  done
  besides=()
}
long_stage() { [ $all = no ] || stage "$@"; }

# script FILE ARGUMENT...: runs a script of the tests when it is there.
script() { if [ -x "$1" ]; then "$@"; else echo "(no $1)"; return 77; fi; }

units_for_use() { ONNXC_UNITS_LEVEL=-O3 script "$@"; }  # what tests/units.py builds otherwise with -O0

at_o0() { AT_LEVEL=-O0 AT_LEVEL_CXX="${ONNXC_CXX:-${CXX:-c++}}" ONNXC_CXX="$PWD/tests/at_level.sh" "$@"; }  # what `onnxc run` builds otherwise with -O3

all_networks() { ONNXC_ALL_NETWORKS=1 "$@"; }

setup() { tools/setup.sh --test-deps --quiet; }
build() { cmake --preset "$1" -DONNXC_BUILD_TESTS=ON >/dev/null && cmake --build --preset "$1" -j "$jobs"; }
run_ctest() { ctest --preset "$1" -j "$jobs" "${@:2}"; }
sanitized() {
  build asan-ubsan && run_ctest asan-ubsan --label-exclude integration && ONNXC_BUILD=build-asan tests/conformance/run.sh --all
}
on_sanitized() { ONNXC_BUILD=build-asan "$@"; }  # what `sanitized` built

optimised_kernels() {  # the kernels' tests as users build kernels, in a build folder of their own
  cmake --preset release -B build-kernels -DONNXC_BUILD_TESTS=ON -DONNXC_KERNEL_TESTS_LEVEL=-O3 >/dev/null &&
    cmake --build build-kernels --target onnxc_kernel_tests -j "$jobs" && build-kernels/onnxc_kernel_tests
}

kernel_benchmarks() {  # each runs for a moment; times are not looked at
  local said
  cmake --build --preset release --target kernel_bench -j "$jobs" && said="$(build/kernel_bench --benchmark_min_time=0.001)" || return
  ! grep 'ERROR OCCURRED' <<<"$said"
}

summary() {
  printf '\n==== summary\n'
  printf '  %s\n' "${results[@]}"
  printf '  in all   %d min %02d s\n' $((SECONDS / 60)) $((SECONDS % 60))
  if [ $failed = 0 ]; then echo "all stages passed"; else echo "some stages FAILED"; fi
  exit $failed
}

# ---- the list --------------------------------------------------------------------------------------------------------------------
stage "setup" setup || summary
. tools/env.sh
stage "build" build release || summary
stage "names in Python" "$ONNXC_TEST_VENV/bin/ruff" check --quiet --no-cache --select E9,F63,F7,F82 .  # what ends a script when it gets there: names that nothing defines
stage "types in Python" script tests/python/types.sh
stage "layout of C++" script tests/style/run.sh
stage "mistakes that clang-tidy finds" script tests/tidy/run.sh  # in at most 8 files that changed last; --all: in all
stage "unit tests and kernels" run_ctest release --label-exclude integration
stage "conformance" script tests/conformance/run.sh  # each operator at -O0, one of twelve node tests at -O1; --all: all at -O1, and the large networks of the suite `light`
stage "conformance of ONNX 1.12" script tests/conformance/earlier.sh  # at -O0: how earlier forms are read
stage "whole networks" script tests/zoo/run.sh  # every other one on two threads, every fourth at -O3, small ones at -O0; --all: each on one and on two at -O3, and all there are
# Most of these take one processor most of their time. The longest come first.
beside "AArch64 in an emulator" script tests/cross/aarch64.sh
beside "Windows in Wine" script tests/windows/run.sh  # the digits sample, a transformer; --all: four networks, three processors
beside "firmware" script tests/firmware/run.sh  # two networks in floats and integers on a Cortex-M4 and a Cortex-M55; --all: fourteen on each machine
beside "rules for emitted code" script tests/check_emitted/run.sh  # some units of each kind, where clang's libraries are; --all: every network and backend test
beside "quantised models" script tests/quantize/run.sh  # --all: also large networks
beside "weights of few bits" script tests/weight_bits/run.sh  # at -O0; --all: real transformers with 8 bits and with 4 each
beside "compressed models" script tests/compress/run.sh  # --all: also large networks
beside "states" script tests/state/run.sh  # to the bit as inputs and outputs, at -O0; --all: at -O3
beside "sequences of many sizes" script tests/sequence_sizes/run.sh  # a few models at -O0; --all: each with open dimensions, at -O3
beside "operators against ONNX Runtime" script tests/contrib/run.sh  # at -O0; --all: at -O3
beside "benchmarks against other engines" at_o0 script tests/bench/run.sh
beside "values in place" script tests/placement/run.sh  # two units of each network at -O0; --all: four at -O3
beside "models as exporters write them" script tests/exporters/run.sh  # scikit-learn, LightGBM, XGBoost; --all: PyTorch, Hugging Face, TensorFlow, JAX
beside "refusals" script tests/refuse/run.sh
beside "units against their models" script tests/verify/run.sh
beside "a model from inside" at_o0 script tests/sight/run.sh
beside "kernels by measurement" at_o0 script tests/tune/run.sh
beside "narrow weights" script tests/narrow/run.sh  # at -O0; --all: at -O3
beside "random cases of each operator" script tests/differential/run.sh  # 400 at -O0; --all: 6000 at -O1
beside "python" at_o0 script tests/wheel/run.sh  # as it is installed; --all: from the wheel
beside "tables on clusters" script tests/cluster/run.sh  # of two workers each, 3000 rows; --all: a million
beside "a CMake project that uses onnxc" script tests/downstream/run.sh
beside "a CMake project that takes onnxc's sources" script tests/downstream/fetch.sh build  # its configuration; --all: built
beside "a Debian package" script tests/deb/run.sh
beside "a server" script tests/serving/run.sh  # --all: an image of one file, ten minutes of load
beside "shells, options in files, errors for programs" script tests/shell/run.sh
beside "arenas of symbolic sizes" script tests/memory/symbolic.sh
beside "forests to the bit" script tests/ml/forests.sh  # at -O1
beside "numerics" script tests/numerics/run.sh  # at -O1; --all: at -O3
beside "random models" script tests/hostile/graphs.sh  # 60, in two ways each, at -O0; --all: 600 at -O3
beside "threads" script tests/threads/run.sh  # at -O3
beside "classifiers without a heap" script tests/ml/no_heap.sh
beside "integer kernels to the bit" script tests/quantised/run.sh  # 60 forms of each at -O0; --all: 200
beside "random quantised networks" script tests/differential/quantised.sh  # 60 at -O0; --all: 1000
beside "node tests for GPUs in the emulator" script tests/gpu/conformance.sh  # a tenth of them; --all: each
beside "units for GPUs in the emulator" at_o0 script tests/gpu/units.sh
beside "chains of nodes on the emulated GPU" script tests/gpu/chains.sh
beside "sessions on the emulated GPU" script tests/gpu/sessions.sh
beside "a detector on a GPU and a processor" script tests/gpu/detector.sh
beside "units for GPUs and compilers" script tests/gpu/sources.sh
long_stage "what a GPU will be measured with" script bench/gpu/rehearse.sh
beside "custom operators" at_o0 script tests/custom/run.sh
beside "sizes that no memory holds" script tests/sizes/run.sh
beside "functions, broadcasting, branches" script tests/language/run.sh  # at -O0; --all: at -O3
beside "samples" script tests/samples/run.sh
beside "samples in C and Rust" script tests/bindings/run.sh
beside "a model in a page" script tests/web/run.sh
beside "words on a board" script tests/keyword/run.sh
beside "sentences by their meaning" script tests/embed/run.sh
beside "a language model as a program" script tests/llm/run.sh
beside "memories of several speeds" script tests/regions/run.sh
beside "packages" script tests/package/run.sh
beside "the same bits on every machine" script tests/numerics/reproducible.sh  # --all: each network, processor, compiler and level
beside "faults of memory, files, disks and signals" script tests/faults/run.sh  # a sample; --all: each call
beside "the same bytes everywhere" script tests/reproducible/run.sh  # two networks; --all: seven, and all forms under all circumstances
beside "files that lie" script tests/hostile/run.sh  # one form of 60; --all: each
beside "models as small as a fault" script tests/reduce/run.sh
beside "reports in a browser" script tests/report/run.sh
beside "what the pages show" script tests/docs/run.sh  # commands and blocks at -O0, the site in a browser; --all: commands that take long, too
beside "memory of the compiler" script tests/memory/peak.sh
beside "large models" script tests/large/run.sh
beside "hard memory plans" script tests/memory/minimalloc.sh
beside "tests that notice changes" script tests/mutation/run.sh --few  # three changes; --all: 80
beside "images" script tests/images/run.sh
join
long_stage "mistakes that clang-tidy finds, in all files" script tests/tidy/run.sh --all
long_stage "tables on clusters, a million rows" script tests/cluster/run.sh build --all
long_stage "a wheel" script tests/wheel/run.sh build --all
long_stage "a server under load, in an image" script tests/serving/run.sh build --all
long_stage "models of gigabytes" script tests/large/run.sh --all
long_stage "whole networks, all of them" script tests/zoo/run.sh --all --threads 1
long_stage "whole networks, on two threads" script tests/zoo/run.sh --threads 2
long_stage "sequences of many sizes, all models" script tests/sequence_sizes/run.sh build --all
long_stage "operators against ONNX Runtime, built with -O3" units_for_use tests/contrib/run.sh
long_stage "states, built with -O3" units_for_use tests/state/run.sh
long_stage "values in place, built with -O3" units_for_use tests/placement/run.sh build --all
long_stage "numerics, built with -O3" units_for_use tests/numerics/run.sh
long_stage "narrow weights, built with -O3" units_for_use tests/narrow/run.sh
long_stage "functions, broadcasting, branches, built with -O3" units_for_use tests/language/run.sh
long_stage "a model from inside, built with -O3" script tests/sight/run.sh
long_stage "kernels by measurement, built with -O3" script tests/tune/run.sh
long_stage "units for GPUs in the emulator, built with -O3" script tests/gpu/units.sh
long_stage "custom operators, built with -O3" script tests/custom/run.sh
long_stage "benchmarks against other engines, built with -O3" script tests/bench/run.sh
long_stage "quantised models, large ones too" all_networks script tests/quantize/run.sh
long_stage "weights of few bits, 8 and 4 each" all_networks script tests/weight_bits/run.sh
long_stage "compressed models, large ones too" all_networks script tests/compress/run.sh
long_stage "the same bits on every machine, as a table" script tests/numerics/reproducible.sh build --all
long_stage "what the pages show, all of it" script tests/docs/run.sh --all
long_stage "emitted code" script tests/emitted/run.sh
long_stage "kernels, built with -O3" optimised_kernels
long_stage "kernel benchmarks" kernel_benchmarks
long_stage "words of GPU kernels by nvcc" script tests/gpu/words.sh
long_stage "reference kernels by nvcc" script tests/gpu/scalars.sh
long_stage "units for GPUs by nvcc" script tests/gpu/nvcc_units.sh  # six; with --all each of the zoo, which takes hours
long_stage "faults in kernels of GPUs" script tests/gpu/faults.sh
long_stage "models as exporters write them, of every framework" script tests/exporters/run.sh build --all
long_stage "classical models and strings against ONNX Runtime" script tests/ml/run.sh
long_stage "address and undefined behaviour sanitizers" sanitized
long_stage "emitted code under sanitizers" script tests/sanitized/run.sh build address clang memory threads
long_stage "files that lie, with sanitizers" on_sanitized script tests/hostile/run.sh
long_stage "files that lie, all of them" script tests/hostile/run.sh --all
long_stage "faults, all of them" script tests/faults/run.sh build --all
long_stage "the same bytes everywhere, all forms" script tests/reproducible/run.sh build --all
long_stage "random models, hundreds" units_for_use tests/hostile/graphs.sh --all
long_stage "random cases of each operator, thousands" script tests/differential/run.sh --all
long_stage "integer kernels to the bit, 200 forms of each" script tests/quantised/run.sh build --all
long_stage "random quantised networks, a thousand" script tests/differential/quantised.sh --all
long_stage "conformance, all of it" script tests/conformance/run.sh --all
long_stage "AArch64 in an emulator, all of it" script tests/cross/aarch64.sh --all
long_stage "Windows in Wine, more networks" script tests/windows/run.sh build --all
long_stage "firmware, all models on all machines" script tests/firmware/run.sh --all
long_stage "rules for emitted code, every network and backend test" script tests/check_emitted/run.sh build --all
long_stage "units against their models, every backend test" script tests/verify/run.sh build --all
long_stage "node tests for GPUs in the emulator, all of them" script tests/gpu/conformance.sh --all
long_stage "values in place, on a GPU" script tests/placement/run.sh build --gpu
long_stage "tests that notice changes, 80 of them" script tests/mutation/run.sh --count 40
long_stage "conformance through ONNX's Python runner" script tests/python/node_suite.sh
long_stage "inputs that crash, looked for" script tests/fuzz/run.sh  # five minutes, after a build of ten
long_stage "a CMake project that takes onnxc's sources, built" script tests/downstream/fetch.sh build --all
long_stage "packages in a bare Debian 12" script tests/bare/packages.sh
long_stage "both commands in a bare Debian 12" script tests/bare/run.sh
summary
