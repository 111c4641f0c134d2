#!/usr/bin/env bash
# The sample that continues texts: its tokenizer and sampler beside Python's, its tokens beside ONNX Runtime's, what the program says.
#
#   tests/llm/run.sh [BUILD]
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
python="$ONNXC_TEST_VENV/bin/python"
"$python" -c 'import numpy, onnx, onnxruntime' 2>/dev/null || { echo "no Python with onnxruntime: tools/setup.sh --test-deps"; exit 77; }
build="${1:-build}" sample=samples/llm cxx="${CXX:-g++}" out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT
export PYTHONDONTWRITEBYTECODE=1
flags=(-std=c++20 -march=native -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iruntime_stub -I$sample "-I$out")

{ printf 'R"merges('; cat $sample/merges.txt; printf ')merges"\n'; } >"$out/merges.inc"  # as its CMakeLists.txt does
main() {  # main OBJECT FOLDER [OPTION...]: the program but for the model, whose header lies in the folder
  "$cxx" "${flags[@]}" "-I$2" "${@:3}" -O1 -c $sample/main.cpp -o "$out/$1.o"
}
program() {  # program NAME MODEL [OPTION...]
  local name="$1" folder="$out/$1.unit" object=main
  mkdir "$folder"
  "$build/onnxc" "$2" -o "$folder/llm.cpp" --state=auto --dim batch=1 "${@:3}"
  if [ -f "$folder/llm.weights.bin" ]; then object=mapping; main mapping "$folder" "-DLLM_WEIGHTS=\"$folder/llm.weights.bin\""; fi
  [ -f "$out/$object.o" ] || main main "$folder"
  "$cxx" "${flags[@]}" -O1 "$out/$object.o" "$folder/llm.cpp" -o "$out/$name"
}
program llm $sample/llm.onnx
"$python" tests/llm/models.py "$out" >"$out/models"
while read -ra model; do program "${model[@]}"; done <"$out/models"
"$cxx" "${flags[@]}" -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all tests/llm/answers.cpp -o "$out/answers"
"$python" tests/llm/check.py "$out"
echo "llm: passed"
