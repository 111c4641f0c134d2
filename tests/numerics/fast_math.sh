#!/usr/bin/env bash
# -ffast-math: units refuse it and its parts, and say what allows it; where it is allowed, a unit still gives what it should for ordinary numbers.
#
#   tests/numerics/fast_math.sh [BUILD_FOLDER]
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="${1:-build}"
out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT
failed=0
fail() { echo "FAILED  $*"; failed=$((failed + 1)); }

for math in strict default fast reproducible; do "$build/onnxc" samples/digits/digits.onnx --target=generic --math="$math" --namespace=digits -o "$out/$math.cpp"; done
preprocessed() { "$1" -std=c++20 -Iruntime_stub "-I$out" -w -E "$out/$2.cpp" -o /dev/null "${@:3}" 2>"$out/said"; }
refused() {  # WORDS COMPILER UNIT FLAG...
  if preprocessed "${@:2}"; then fail "${*:2}: it is not refused"; fi
  grep -q "error: .*$1" "$out/said" || fail "${*:2}: it does not say '$1': $(head -c 300 "$out/said")"
}

cp "$out/default.h" "$out/digits.h"

compilers=(g++)
! command -v clang++-19 >/dev/null || compilers+=(clang++-19)
for compiler in "${compilers[@]}"; do
  parts=(-ffast-math -Ofast -ffinite-math-only)
  [ "$compiler" != g++ ] || parts+=(-funsafe-math-optimizations -freciprocal-math -fno-signed-zeros)  # Clang defines nothing for these
  for unit in strict default fast reproducible; do
    preprocessed "$compiler" "$unit" -O3 || fail "$compiler $unit: refused without a reason: $(head -c 300 "$out/said")"
    for part in "${parts[@]}"; do
      if [ $unit = reproducible ]; then
        for allowed in "" -DONNXC_ALLOW_FAST_MATH; do refused "results depend on the machine .* leave it out" "$compiler" $unit "$part" $allowed; done
      else
        refused "allow it with -DONNXC_ALLOW_FAST_MATH" "$compiler" $unit "$part"
        preprocessed "$compiler" $unit "$part" -DONNXC_ALLOW_FAST_MATH || fail "$compiler $unit $part: refused though it is allowed"
      fi
    done
  done
  "$compiler" -std=c++20 -O1 -ffast-math -DONNXC_ALLOW_FAST_MATH -w -Iruntime_stub "-I$out" samples/digits/main.cpp "$out/default.cpp" -o "$out/digits"
  "$out/digits" samples/digits/digit.pgm samples/digits/expected.txt >"$out/said" || fail "$compiler -ffast-math: $(cat "$out/said")"
done
[ $failed = 0 ] || exit 1
echo "-ffast-math: refused by units of four levels with ${compilers[*]}, and right where it is allowed"
