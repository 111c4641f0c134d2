#!/usr/bin/env bash
# Packages that `onnxc package` makes: their metadata is well-formed, and their sources build and run as the ecosystem's tools would build them.
#
#   tests/package/run.sh [BUILD]
#
# Zephyr's and ESP-IDF's own CMake functions are replaced by ones that do the same for this machine. The library for Arduino needs the
# cross compiler that `tools/setup.sh --cross-deps` installs; without it that part is left out, which is said.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
onnxc="${1:-build}/onnxc" model=samples/digits/digits.onnx
out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT
fail() { echo "package: $*" >&2; exit 1; }
make_package() { "$onnxc" package "$model" --as "$1" --target="$2" -Os --package-version 2.3.4 --maintainer 'Ada <ada@example.com>' -o "$out/$1/digits" >"$out/listed"; }
strict=(-Wall -Wextra -Wpedantic -Werror)

for form in files platformio zephyr esp-idf cmsis-pack; do make_package $form generic; done

echo "-- files: with CMake, and by hand from C and from old C++"
cmake -G Ninja -S "$out/files/digits" -B "$out/files/build" >/dev/null
cmake --build "$out/files/build" >"$out/log" 2>&1 || { cat "$out/log"; fail "files do not build"; }
"$out/files/build/digits_example" | grep -qx 'digits: ok' || fail "the example does not run"
gcc -std=c11 "${strict[@]}" -fsyntax-only "$out/files/digits/main.c"
g++ -std=c++11 "${strict[@]}" -x c++ -fsyntax-only "$out/files/digits/main.c"

echo "-- platformio, cmsis-pack: metadata, and every file that it names"
"$ONNXC_PYTHON" tests/package/check_metadata.py "$out"

echo "-- zephyr, esp-idf: with functions in the place of theirs"
mkdir "$out/zephyr/app" "$out/esp-idf/app"
cat >"$out/zephyr/app/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.20)
project(app C CXX)
set(CONFIG_DIGITS y)
macro(zephyr_include_directories)
  include_directories(${ARGN})
endmacro()
macro(zephyr_library_named name)
  set(library ${name})
endmacro()
macro(zephyr_library_sources)
  add_library(${library} STATIC ${ARGN})
endmacro()
macro(zephyr_library_compile_options)
  target_compile_options(${library} PRIVATE ${ARGN})
endmacro()
include_directories(../digits/src)
add_subdirectory(../digits module)
add_executable(app ../digits/sample/src/main.c)
target_link_libraries(app digits)
CMAKE
cat >"$out/esp-idf/app/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.20)
project(app C CXX)
function(idf_component_register)
  cmake_parse_arguments(ARG "" "" "SRCS;INCLUDE_DIRS;REQUIRES" ${ARGN})
  get_filename_component(name ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  add_library(${name} STATIC ${ARG_SRCS})
  target_include_directories(${name} PUBLIC ${ARG_INCLUDE_DIRS})
  target_link_libraries(${name} PUBLIC ${ARG_REQUIRES})
  set(COMPONENT_LIB ${name} PARENT_SCOPE)
endfunction()
add_subdirectory(../digits digits)
add_subdirectory(../digits/examples/run/main main)
file(WRITE ${CMAKE_BINARY_DIR}/start.c "void app_main(void);\nint main(void) { app_main(); return 0; }\n")
add_executable(app ${CMAKE_BINARY_DIR}/start.c)
target_link_libraries(app main)
CMAKE
for form in zephyr esp-idf; do
  cmake -G Ninja -S "$out/$form/app" -B "$out/$form/build" >/dev/null
  cmake --build "$out/$form/build" >"$out/log" 2>&1 || { cat "$out/log"; fail "$form does not build"; }
  "$out/$form/build/app" | grep -qx 'digits: ok' || fail "the example of $form does not run"
done

echo "-- arduino"
if command -v arm-none-eabi-g++ >/dev/null; then
  make_package arduino cortex-m4
  library="$out/arduino/digits/src/cortex-m4/fpv4-sp-d16"
  for abi in hard softfp; do  # a sketch of C++11 links with it
    printf '#include "digits_c.h"\n%s\nint main() { return digits_run(image, scores, arena); }\n' \
      'static float image[DIGITS_IMAGE_COUNT], scores[DIGITS_SCORES_COUNT]; DIGITS_ALIGNED static uint8_t arena[DIGITS_ARENA_BYTES];' >"$out/sketch.cpp"
    arm-none-eabi-g++ -std=gnu++11 -mcpu=cortex-m4 -mthumb -mfloat-abi=$abi -mfpu=fpv4-sp-d16 --specs=nosys.specs "${strict[@]}" "-I$out/arduino/digits/src" \
      "$out/sketch.cpp" "$library-$abi/libdigits.a" -o "$out/sketch" 2>"$out/log" || { cat "$out/log"; fail "a sketch does not link ($abi)"; }
  done
else
  echo "skipped: no arm-none-eabi-g++; tools/setup.sh --cross-deps installs it"
fi

echo "-- what tools of ecosystems say"
if [ -e "$ONNXC_PACKAGE_VENV/.complete" ]; then
  "$ONNXC_PACKAGE_VENV/bin/python" tests/package/ecosystems.py "$out"
else
  echo "skipped: no PlatformIO and others; tools/setup.sh --package-deps installs them"
fi

echo "-- what cannot be made leaves nothing"
refused() {  # refused CODE WORDS ARGUMENTS...
  local code=0
  "$onnxc" package "${@:3}" -o "$out/refused/digits" >"$out/log" 2>&1 || code=$?
  [ $code = "$1" ] && grep -q -- "$2" "$out/log" || { cat "$out/log"; fail "exit $code, not $1 with '$2'"; }
  [ ! -e "$out/refused" ] || fail "something is left"
}
refused 2 'for another machine' "$model" --as files
refused 2 'for one core' "$model" --as arduino --target=generic
refused 1 'sizes that are known' samples/dynamic_mlp/dynamic_mlp.onnx --as files --target=generic
code=0; make_package files generic 2>"$out/log" || code=$?
[ $code = 3 ] && grep -q 'is there already' "$out/log" || fail "a folder with files was overwritten"
echo "package: passed"
