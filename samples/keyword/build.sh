#!/usr/bin/env bash
# Keyword spotting on a Cortex-M4, from the model to words on the screen: samples/keyword/build.sh FOLDER [CLIP.wav ...]
#
# Compiles the model, links keyword.elf in the folder and runs it (run.sh).
# Needs onnxc (ONNXC: its path, by default build/onnxc), and of Debian: gcc-arm-none-eabi libnewlib-arm-none-eabi libstdc++-arm-none-eabi-newlib qemu-system-arm.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
onnxc="${ONNXC:-$here/../../build/onnxc}" runtime="${ONNXC_RUNTIME:-$here/../../runtime_stub}" out="$1"
shift
mkdir -p "$out"

# 1. The model as C++: keyword.cpp and keyword.h.
"$onnxc" "$here/keyword.onnx" --target=cortex-m4 -Os --measure -o "$out/keyword.cpp"

# 2. The image. What is not called is left out (--gc-sections); there is no C++ library, and of C's only such as memcpy.
core=(-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16)
arm-none-eabi-g++ "${core[@]}" -std=c++20 -Os -Wall -Wextra -ffunction-sections -fdata-sections -fno-exceptions -fno-rtti "-I$runtime" "-I$out" \
  "$here/main.cpp" "$here/board.cpp" "$out/keyword.cpp" -nostartfiles -nostdlib -lc -lgcc -T "$here/board.ld" -Wl,--gc-sections,-Map="$out/keyword.map" -o "$out/keyword.elf"
arm-none-eabi-size "$out/keyword.elf"

# 3. Run.
"$here/run.sh" "$out" "$@"
