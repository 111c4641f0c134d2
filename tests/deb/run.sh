#!/usr/bin/env bash
# The Debian package: what it holds, and that what lies in it works where it lies: the command, its headers by pkg-config, its package for CMake.
#
#   tests/deb/run.sh [BUILD_FOLDER]
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="$(cd "${1:-build}" && pwd)"
command -v dpkg-shlibdeps >/dev/null || { echo "no dpkg-shlibdeps: Debian's package dpkg-dev"; exit 77; }
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
cmake --build "$build" --target onnxc command_pages >/dev/null
(cd "$build" && cpack --config CPackConfig.cmake -B "$work" >"$work/log" 2>&1) || { cat "$work/log"; fail "cpack"; }
package=("$work"/onnxc_*.deb)
dpkg-deb -f "${package[0]}" | sed -nE '/^(Package|Version|Depends|Recommends)/p'
dpkg-deb -f "${package[0]}" Depends | grep -q libprotobuf || fail "dependencies are missing"
dpkg-deb -x "${package[0]}" "$work/root"
for file in bin/onnxc include/onnxc/model.h lib/cmake/onnxc/onnxcConfig.cmake share/pkgconfig/onnxc.pc share/man/man1/onnxc.1 share/bash-completion/completions/onnxc \
  share/zsh/vendor-completions/_onnxc share/fish/vendor_completions.d/onnxc.fish share/doc/onnxc/CHANGELOG.md; do
  [ -s "$work/root/usr/$file" ] || fail "usr/$file is missing"
done

# The C++ compiler finds the headers by pkg-config, and onnxc those that it pastes in.
model="$PWD/samples/digits/digits.onnx"
cd "$work"
root/usr/bin/onnxc "$model" -o digits.cpp
if command -v pkg-config >/dev/null; then
  read -ra flags <<<"$(PKG_CONFIG_PATH="$work/root/usr/share/pkgconfig" pkg-config --cflags onnxc)"
else
  flags=("-I$work/root/usr/include")
fi
c++ -std=c++20 -march=native "${flags[@]}" -c digits.cpp -o digits.o || fail "the unit does not compile"
root/usr/bin/onnxc "$model" --standalone -o alone.cpp
c++ -std=c++20 -march=native -c alone.cpp -o alone.o || fail "the unit with pasted headers does not compile"

# A project finds the package.
mkdir project
cat >project/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
find_package(onnxc CONFIG REQUIRED)
onnxc_add_model(digits MODEL $model)
END
cmake -S project -B project/build -DCMAKE_PREFIX_PATH="$work/root/usr" >/dev/null
cmake --build project/build >/dev/null || fail "the project does not build"
echo "the package works: $(stat -c %s "${package[0]}") bytes"
