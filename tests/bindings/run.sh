#!/usr/bin/env bash
# The samples in other languages, over the C ABI, give the scores that are stored beside the digits sample. (JavaScript: tests/web.)
#
#   tests/bindings/run.sh [BUILD_FOLDER]
set -euo pipefail
cd "$(dirname "$0")/../.."
build="$(cd "${1:-build}" && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
image=(samples/digits/digit.pgm samples/digits/expected.txt)

# C99; the program is linked without the C++ library.
cmake -S samples/c -B "$work/c" -DCMAKE_PREFIX_PATH="$build" -DCMAKE_C_FLAGS="-Wall -Wextra -Wpedantic -Wconversion -Werror" >/dev/null
cmake --build "$work/c" >/dev/null
"$work/c/digits_c" "${image[@]}"
if ldd "$work/c/digits_c" | grep 'libstdc++'; then echo "FAILED: the unit needs the C++ library"; exit 1; fi
if "$work/c/digits_c" samples/digits/expected.txt 2>"$work/said"; then echo "FAILED: what is no image is taken"; exit 1; fi
grep -q '^usage:' "$work/said"

if command -v cargo >/dev/null; then
  cp -r samples/rust "$work/rust"
  mkdir "$work/digits" && cp samples/digits/digits.onnx "$work/digits"
  ONNXC="$build/onnxc" RUSTFLAGS="-D warnings" cargo build --quiet --release --offline --manifest-path "$work/rust/Cargo.toml"
  "$work/rust/target/release/digits" "${image[@]}" | tee "$work/said"
  grep -q "an image of 63 pixels: input 'image' has another type or shape" "$work/said"
else echo "(no cargo: Debian's package cargo)"; fi
