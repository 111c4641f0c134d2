#!/usr/bin/env bash
# From a bare Debian 12 to an answer: installs what is needed, builds onnxc, compiles a sample model to C++, compiles that, runs it.
set -euo pipefail
cd "$(dirname "$0")"

step() { printf '\n== %s\n' "$*"; }
show() { printf '   $ %s\n' "$*"; "$@"; }

step "1/5 What is needed (packages, ONNX's C++ library; once)"
tools/setup.sh --quiet
. tools/env.sh
echo "   all there"

step "2/5 Build onnxc (the first time takes a few minutes)"
cmake --preset release -DONNXC_BUILD_TESTS=OFF >build-demo.log 2>&1 || { cat build-demo.log; exit 1; }
cmake --build --preset release --target onnxc
rm -f build-demo.log
out=build/demo
mkdir -p $out

step "3/5 Compile the model to C++: samples/digits/digits.onnx, a small convolutional network trained by samples/digits/train.py"
show build/onnxc samples/digits/digits.onnx -o $out/digits.cpp
printf '   %s: %s bytes. Its outline:\n\n' $out/digits.cpp "$(wc -c <$out/digits.cpp)"
sed -n '/^\/\/ Memory/,/^$/p' $out/digits.cpp | cut -c1-130 | sed 's/^/      /'
printf '   Its interface, %s:\n\n' $out/digits.h
sed -n '/^namespace /,/^}  *\/\//p' $out/digits.h | sed 's/^/      /'

step "4/5 Compile the C++ with a program that uses it (samples/digits/main.cpp)"
show g++ -std=c++20 -O3 -march=native -Iruntime_stub -I$out samples/digits/main.cpp $out/digits.cpp -o $out/digits
printf '   %s: %s bytes\n' $out/digits "$(wc -c <$out/digits)"

step "5/5 Run it on an image that training did not see"
show $out/digits samples/digits/digit.pgm samples/digits/expected.txt

printf '\nDone: the answer is the one ONNX Runtime gives.\n'
