#!/usr/bin/env bash
# nvcc compiles every kernel of tests/gpu/kernels/*.cu, in every type and tile that is listed there: without a warning, and
# without a register that is spilled. Registers, shared memory and threads are those of tests/gpu/kernels.list, and products
# use tensor cores.
#
#   tests/gpu/kernels.sh [--update] [NAME]...      files by their name, all where none is given
#
# What was compiled before is remembered in $ONNXC_CACHE, by a hash of all that goes in. Registers are compared where nvcc is
# of the list's version. Exit code 77 where there is no nvcc. NVCC names another one.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
nvcc="${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}"
command -v "$nvcc" >/dev/null || { echo "skipped: no nvcc"; exit 77; }
update=
[ "${1:-}" != --update ] || { update=yes; shift; }
names=("$@") chosen="$(IFS='|'; echo "^($*) ")"
[ $# -gt 0 ] || { names=($(basename -s .cu tests/gpu/kernels/*.cu)) chosen='^[^#]'; }

out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT
cache="$ONNXC_CACHE/gpu-kernels"
mkdir -p "$cache"
version="$("$nvcc" --version | grep -o 'V[0-9.]*' | tail -n 1)"
flags=(-std=c++20 -O3 --extended-lambda --expt-relaxed-constexpr -I. -Iruntime_stub -Werror all-warnings
       -Xptxas -v,-warn-spills,-Werror -Xcompiler -Wall,-Wextra,-Werror)
list=tests/gpu/kernels.list

for name in "${names[@]}"; do
  unit="tests/gpu/kernels/$name.cu"
  # Beside what a C++ compiler includes here there is what nvcc does in the place of the emulator.
  inputs="$(g++ -std=c++20 -MM -I. -Iruntime_stub -x c++ "$unit" | tr -d '\\\n' | cut -d: -f2) runtime_stub/onnxc/gpu/device_cuda.hpp runtime_stub/onnxc/gpu/host_cuda.hpp tests/gpu/kernels.py"
  for architecture in sm_80 sm_90; do
    key="$({ echo "$version $architecture ${flags[*]}"; cat $inputs; } | sha256sum | cut -c1-24)"
    if [ ! -f "$cache/$key" ]; then
      mkdir -p "$out/$architecture"
      "$nvcc" "${flags[@]}" -arch="$architecture" -keep -keep-dir "$out/$architecture" -c "$unit" -o "$out/$name.o" 2>"$out/report" || { grep -vE '^ptxas info|^    0 bytes|^$' "$out/report"; exit 1; }
      python3 tests/gpu/kernels.py "$name" "$architecture" "$out/report" "$out/$architecture/$name.ptx" "$out/$name.o" >"$out/rows" || { cat "$out/rows"; exit 1; }
      mv "$out/rows" "$cache/$key"
    fi
    cat "$cache/$key" >>"$out/found"
  done
done

LC_ALL=C sort -o "$out/found" "$out/found"
if [ -n "$update" ]; then
  { grep '^#' "$list" | grep -v '^# nvcc ' || true
    echo "# nvcc $version"
    { grep -v '^#' "$list" | grep -vE "$chosen" || true; cat "$out/found"; } | LC_ALL=C sort; } >"$out/list"
  mv "$out/list" "$list"
fi
grep -E "$chosen" "$list" >"$out/known" || true
if ! grep -qxF "# nvcc $version" "$list"; then
  echo "(nvcc is $version: registers are not compared)"
  for file in found known; do
    awk '{$3 = "-"; print}' "$out/$file" >"$out/$file.some"
    mv "$out/$file.some" "$out/$file"
  done
fi
if ! diff "$out/known" "$out/found"; then
  echo "kernels changed (<: $list; >: found). With --update the list is written anew."
  exit 1
fi
echo "$(wc -l <"$out/found") kernels, nothing spilled"
