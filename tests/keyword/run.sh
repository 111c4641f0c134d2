#!/usr/bin/env bash
# The sample that listens for words: its features beside numpy's, the words that it hears on this machine and on an emulated Cortex-M4.
#
#   tests/keyword/run.sh [BUILD]
#
# The board needs what `tools/setup.sh --cross-deps` installs; without it that part is left out, which is said.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
export ONNXC="${1:-build}/onnxc"
sample=samples/keyword cxx="${CXX:-g++}" out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT
fail() { echo "keyword: $*" >&2; exit 1; }
strict=(-std=c++20 -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion -Wshadow -Werror)

echo "-- features"
"$cxx" "${strict[@]}" -O2 -fPIC -shared $sample/features.cpp -o "$out/features.so"
if "$ONNXC_PYTHON" -c 'import numpy' 2>/dev/null; then "$ONNXC_PYTHON" tests/keyword/check_features.py "$out/features.so"
else echo "skipped: no Python with numpy; tools/setup.sh --test-deps installs it"; fi

# Half a second of silence, yes, stop, half a word more than fits a hop; and what is no such file.
python3 - $sample "$out" <<'PYTHON'
import sys, wave
sample, out = sys.argv[1:]
read = lambda name: wave.open(f"{sample}/{name}.wav").readframes(1 << 20)
with wave.open(f"{out}/both.wav", "wb") as both:
    both.setnchannels(1), both.setsampwidth(2), both.setframerate(16000)
    both.writeframes(bytes(16000) + read("yes") + bytes(16000) + read("stop") + bytes(16300))
yes = open(f"{sample}/yes.wav", "rb").read()
open(f"{out}/short.wav", "wb").write(yes[:20000])
open(f"{out}/other.wav", "wb").write(yes.replace((16000).to_bytes(4, "little"), (8000).to_bytes(4, "little"), 1))
with open(f"{out}/more.wav", "wb") as more:  # a chunk of odd length before the samples
    more.write(yes[:36] + b"LIST" + (5).to_bytes(4, "little") + b"hello\0" + yes[36:])
PYTHON

# heard PROGRAM...: the words that it says of the clips, and of what it refuses.
heard() {
  "$@" $sample/yes.wav $sample/stop.wav "$out/both.wav" "$out/more.wav" >"$out/said" || { cat "$out/said"; fail "a clip cannot be read"; }
  cat "$out/said"
  local words
  words="$(awk '$2 ~ /^[0-9.]+$/ { print $4 }' "$out/said" | tr '\n' ' ')"
  [ "$words" = "yes stop yes stop yes " ] || fail "heard: $words"
  awk '$2 ~ /^[0-9.]+$/ && $5 < 0.8 { exit 1 }' "$out/said" || fail "a word is in doubt"
  local file
  for file in short other nothing; do
    if "$@" "$out/$file.wav" >"$out/said"; then fail "$file.wav is taken for a clip"; fi
    grep -q "$file.wav: \(ends too early\|is no WAV file\|cannot be opened\)" "$out/said" || { cat "$out/said"; fail "nothing said of $file.wav"; }
  done
}

echo "-- on this machine"
mkdir "$out/host"
"$ONNXC" $sample/keyword.onnx -o "$out/host/keyword.cpp"
"$cxx" "${strict[@]}" -O2 -march=native -Iruntime_stub "-I$out/host" $sample/{main,host}.cpp "$out/host/keyword.cpp" -o "$out/host/keyword"
heard "$out/host/keyword"

echo "-- on a Cortex-M4"
for needed in arm-none-eabi-g++ qemu-system-arm; do
  command -v $needed >/dev/null || { echo "skipped: no $needed; tools/setup.sh --cross-deps installs it"; exit 77; }
done
timeout 300 $sample/build.sh "$out/board" || fail "the image cannot be built or run"
heard timeout 60 $sample/run.sh "$out/board"

echo "-- as docs/firmware.md says"
sed -n '/^    mkdir -p .*# 2/,/^    samples.*# 4/s/^    //p' docs/firmware.md | sed "s|/tmp/keyword|$out/page|g; s|^build/onnxc|$ONNXC|" >"$out/page.sh"
grep -q arm-none-eabi-g++ "$out/page.sh" || fail "docs/firmware.md has no commands"
bash -euo pipefail "$out/page.sh" | tee "$out/said"
grep -q '  yes 0' "$out/said" && grep -q '  stop 0' "$out/said" || fail "the page's commands do not make it hear"
echo "keyword: passed"
