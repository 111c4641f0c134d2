#!/usr/bin/env bash
# PyTorch's wheel wants CUDA's libraries, which are gigabytes, to be there even where all runs on the processor: lays libraries of their names beside it whose functions do nothing
# but answer that there is no GPU (cudaErrorNoDevice).
#
#   tests/exporters/without_cuda.sh PYTHON      a Python with torch, installed without what it depends on
set -euo pipefail
lib="$("$1" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')/torch/lib"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
of_cuda='(lib(cu|nv|nccl)[^] ]*)'
readelf -d "$lib"/*.so | sed -nE "s/.*NEEDED.*\[$of_cuda\]/\1/p" | sort -u >"$work/names"
readelf -V -W "$lib"/*.so | sed -nE "s/.* File: ([^ ]*) .*/\1/p; s/.*  Name: ([^ ]*) .*/ \1/p" | awk '/^ / {print file, $1; next} {file = $1}' | sort -u >"$work/versions"
nm -D --undefined-only "$lib"/*.so | sed -nE 's/.* U ((cu|nv|nccl|__cuda)[A-Za-z_0-9]*)(@.*)?$/\1 \3/p' | sort -u >"$work/symbols"
while read -r name; do
  version="$(awk -v name="$name" '$1 == name {print $2}' "$work/versions")"
  awk -v version="@$version" '$2 == version || (version == "@" && NF == 1) {print "int " $1 "() { return 100; }"}' "$work/symbols" >"$work/fails.c"
  echo "${version:-NONE} { *; };" >"$work/script"
  cc -shared -w "$work/fails.c" -o "$lib/$name" "-Wl,-soname,$name" ${version:+"-Wl,--version-script=$work/script"}
done <"$work/names"
