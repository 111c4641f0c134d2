#!/usr/bin/env bash
# The sample that compares sentences: its tokenizer beside one in Python, its vectors beside ONNX Runtime's, what the program says.
#
#   tests/embed/run.sh [BUILD]
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
python="$ONNXC_TEST_VENV/bin/python"
"$python" -c 'import numpy, onnxruntime' 2>/dev/null || { echo "no Python with onnxruntime: tools/setup.sh --test-deps"; exit 77; }
sample=samples/embed cxx="${CXX:-g++}" out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT
flags=(-std=c++20 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iruntime_stub "-I$out" -I$sample)

{ printf 'R"vocab('; cat $sample/vocab.txt; printf ')vocab"\n'; } >"$out/vocab.inc"
"${1:-build}/onnxc" $sample/embed.onnx --dim sequence=1..128 -o "$out/embed.cpp"
"$cxx" "${flags[@]}" -O2 -march=native -c "$out/embed.cpp" -o "$out/embed.o"
"$cxx" "${flags[@]}" -O2 -march=native $sample/main.cpp "$out/embed.o" -o "$out/embed"
"$cxx" "${flags[@]}" -O1 -g -march=native -fsanitize=address,undefined -fno-sanitize-recover=all tests/embed/answers.cpp "$out/embed.o" -o "$out/answers"
"$python" tests/embed/check.py "$out/answers" "$out/embed" "$out"
echo "embed: passed"
