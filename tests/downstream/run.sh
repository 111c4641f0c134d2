#!/usr/bin/env bash
# Installs onnxc, configures the project of this folder against the install tree, builds and runs it, and looks whether what should be
# compiled anew is, and nothing else.
#
#   tests/downstream/run.sh [BUILD_FOLDER]
set -euo pipefail
cd "$(dirname "$0")/../.."
build="$(realpath "${1:-build}")"
out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }
quietly() { "$@" >"$out/log" 2>&1 || { cat "$out/log" >&2; fail "$*"; }; }

quietly cmake --install "$build" --prefix "$out/moved"
mv "$out/moved" "$out/prefix"  # an install tree may be moved
[ -e "$out/prefix/include/onnxc/model.h" ] || fail "no runtime headers in the install tree"

check() {  # check GENERATOR
  local b="$out/${1// /-}"
  tests/downstream/inputs.sh "$b/models"
  quietly cmake -S tests/downstream -B "$b" -G "$1" -DCMAKE_PREFIX_PATH="$out/prefix" -DSAMPLES="$PWD/samples"
  quietly cmake --build "$b"
  grep -q 'sets of inputs: [1-9][0-9]* right, 0 wrong' "$out/log" || fail "$1: the build verifies nothing"
  "$b/one"
  "$b/several"

  quietly cmake --build "$b"
  ! grep -q 'with onnxc' "$out/log" || fail "$1: a second build compiles models again"
  sleep 1
  touch "$b/models/mlp.onnx"
  quietly cmake --build "$b"
  [ "$(grep -c 'mlp.onnx with onnxc' "$out/log")" = 2 ] || fail "$1: a changed model is not compiled again"
  ! grep -q 'digits.onnx with onnxc' "$out/log" || fail "$1: a model that has not changed is compiled again"
  sleep 1
  touch "$b/models/images.npy"
  quietly cmake --build "$b"
  [ "$(grep -c 'with onnxc' "$out/log")" = 3 ] || fail "$1: samples that changed do not compress, quantise and compile one model again"
  echo "$1: right"
}
check Ninja
# What comes now is built at -O0: it is about rules and programs, and once as users build is enough.
export AT_LEVEL=-O0 AT_LEVEL_CXX="${CXX:-c++}" CXX="$PWD/tests/at_level.sh"
if command -v make >/dev/null; then check "Unix Makefiles"; fi

# A model that exceeds a limit fails the build, with the reason, and leaves no source.
tests/downstream/inputs.sh "$out/limits/models"
limits() {  # limits OPTIONS...
  quietly cmake -S tests/downstream -B "$out/limits" -G Ninja -DCMAKE_PREFIX_PATH="$out/prefix" -DSAMPLES="$PWD/samples" "-DLIMITS=$1"
  cmake --build "$out/limits" --target digits_model >"$out/log" 2>&1
}
for limit in "code --max-code=1K" "code --max-code;1K" "arena --max-arena=100" "weights --max-weights=1K"; do
  ! limits "${limit#* }" || fail "${limit#* } is no limit"
  grep -q "onnxc: .*the ${limit%% *} would take [0-9]* bytes, more than" "$out/log" || { cat "$out/log"; fail "no word about ${limit#* }"; }
  [ ! -e "$out/limits/onnxc/digits_model/digits.cpp" ] || fail "${limit#* }: a source is left"
done
limits "--max-code=1M;--max-arena=1M;--max-weights=1M" || { cat "$out/log"; fail "limits that are not exceeded fail the build"; }

# A unit that is not what its data says fails the build: expected outputs lie where --data says.
wrong="$out/wrong"
mkdir -p "$wrong/data"
tests/downstream/inputs.sh "$wrong/models"
# A tensor of floats as ONNX writes it: 4 features of one flower, and probabilities that are none.
printf '\x08\x01\x08\x04\x10\x01\x4a\x10%016d' 0 >"$wrong/data/input_0.pb"
printf '\x08\x01\x08\x03\x10\x01\x4a\x0c%012d' 0 >"$wrong/data/output_0.pb"
quietly cmake -S tests/downstream -B "$wrong" -G Ninja -DCMAKE_PREFIX_PATH="$out/prefix" -DSAMPLES="$PWD/samples" "-DCHECKS=--data;$wrong/data;--no-made"
if cmake --build "$wrong" --target flowers_model >"$out/log" 2>&1; then fail "a wrong expected output does not fail the build"; fi
grep -q 'WRONG *against the data set' "$out/log" || { cat "$out/log"; fail "no word about the wrong output"; }

# The samples' own lists, against the build folder.
for name in digits dynamic_mlp custom_operator embed llm; do
  quietly cmake -S "samples/$name" -B "$out/$name" -G Ninja -DCMAKE_PREFIX_PATH="$build"
  quietly cmake --build "$out/$name"
done
quietly "$out/digits/digits" samples/digits/digit.pgm samples/digits/expected.txt
quietly "$out/dynamic_mlp/dynamic_mlp" samples/dynamic_mlp/flowers.txt
quietly "$out/custom_operator/custom_operator" samples/custom_operator/expected.txt
quietly "$out/embed/embed" --check samples/embed/expected.txt
"$out/llm/llm" "Once upon" | cmp - samples/llm/expected.txt || fail "the language model says something else"
grep -q -- '-lm' "$out/custom_operator/onnxc/custom_operator_model/custom_operator.link" || fail "the link file does not name the library"

# On a GPU: by nvcc if it is there, which takes no GPU, and in the emulator.
quietly cmake -S samples/cuda -B "$out/emulated" -G Ninja -DCMAKE_PREFIX_PATH="$build" -DEMULATE=ON
grep -q 'runs in the emulator of GPUs' "$out/log" || fail "no word about the emulator"
quietly cmake --build "$out/emulated"
quietly "$out/emulated/digits" samples/digits/digit.pgm samples/digits/expected.txt
nvcc="${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}"
if command -v "$nvcc" >/dev/null; then
  CUDACXX="$nvcc" quietly cmake -S samples/cuda -B "$out/cuda" -G Ninja -DCMAKE_PREFIX_PATH="$build"
  quietly cmake --build "$out/cuda"
  if nvidia-smi -L >/dev/null 2>&1; then quietly "$out/cuda/digits" samples/digits/digit.pgm samples/digits/expected.txt
  elif "$out/cuda/digits" samples/digits/digit.pgm >"$out/log" 2>&1; then fail "a run without a GPU succeeds"
  else grep -q '^digits: no session: the GPU failed: ' "$out/log" || { cat "$out/log"; fail "no word about the GPU"; }
  fi
else
  echo "(no nvcc: nothing was compiled for a GPU)"
fi

# Cross-compiling needs to know for which machine, and uses the compiler of this one.
if cmake -S samples/digits -B "$out/cross" -G Ninja -DCMAKE_PREFIX_PATH="$out/prefix" -DCMAKE_SYSTEM_NAME=Generic \
  -DCMAKE_CXX_COMPILER="${CXX:-g++}" >"$out/log" 2>&1; then fail "cross-compiling without a TARGET is accepted"; fi
grep -q 'TARGET says which' "$out/log" || { cat "$out/log"; fail "no word about TARGET when cross-compiling"; }
echo "downstream: all right"
