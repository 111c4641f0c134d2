#!/usr/bin/env bash
# A page that recognises digits in the browser: samples/web/build.sh OUT.html
#
# Needs onnxc (ONNXC: its path, by default build/onnxc) and what `tools/setup.sh --cross-deps` installs: clang and lld, wasi-libc for memcpy, and headers of a
# C++ library, for which those that come with the ARM compiler serve. With a WASI SDK, CLANG and CPP_HEADERS name its own.
set -euo pipefail
cd "$(dirname "$0")/../.."
onnxc="${ONNXC:-build/onnxc}" clang="${CLANG:-clang++-19}" page="$1"
newlib=/usr/include/newlib/c++
version="$(ls "$newlib" 2>/dev/null | tail -n 1)"
headers="${CPP_HEADERS--nostdinc++ -isystem $newlib/$version -isystem $newlib/$version/arm-none-eabi}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
"$onnxc" samples/digits/digits.onnx --target=wasm32 -o "$work/digits.cpp"
# shellcheck disable=SC2086  # several words
"$clang" --target=wasm32-wasi -msimd128 $headers -std=c++20 -O3 -fno-exceptions -fno-rtti -fvisibility=hidden "-I$work" -Iruntime_stub \
  samples/web/module.cpp "$work/digits.cpp" -nostartfiles -nodefaultlibs -lc -Wl,--no-entry,--export-dynamic,--strip-all -o "$work/digits.wasm"
base64 -w0 "$work/digits.wasm" >"$work/digits.txt"
awk -v file="$work/digits.txt" 'BEGIN { getline module < file }
  { at = index($0, "@MODULE@"); if (at) $0 = substr($0, 1, at - 1) module substr($0, at + 8); print }' samples/web/page.html >"$work/page.html"
mv "$work/page.html" "$page"
echo "$page: $(wc -c <"$work/digits.wasm") bytes of WebAssembly"
