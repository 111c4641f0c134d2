#!/usr/bin/env bash
# Runs what build.sh made, on QEMU's board with a Cortex-M4: samples/keyword/run.sh FOLDER [CLIP.wav ...]
#
# Clips are WAV files of 16 kHz, one channel and 16 bits; by default the two here. No path may have a space.
# What the program says goes to the standard output; QEMU itself would write it to the other.
# With -icount shift=5 an instruction takes 32 ns on the board's clock, so counts are the same each time.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)" image="$1/keyword.elf"
shift
[ $# -gt 0 ] || set -- "$here/yes.wav" "$here/stop.wav"
words=arg=keyword
for clip in "$@"; do words+=",arg=$clip"; done
exec qemu-system-arm -M mps2-an386 -icount shift=5 -nographic -monitor none -serial none -semihosting-config "enable=on,target=native,$words" -kernel "$image" 2>&1
