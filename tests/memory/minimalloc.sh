#!/usr/bin/env bash
# Packs hard allocation problems, of MiniMalloc's form and capacity (1 MiB), with onnxc's planner.
#
#   tests/memory/minimalloc.sh [FOLDER [CAPACITY]]
#
# FOLDER holds CSV files with the columns id,lower,upper,size. Without one, MiniMalloc's own (its benchmarks/challenging) are taken where ../shared/prototypes/planner holds them,
# else those that problems.py makes.
# ONNXC_BUILD is the build folder, `build` by default.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
folder="${1:-$root/../shared/prototypes/planner}"
if [ $# = 0 ] && [ ! -d "$folder" ]; then
  folder="$(mktemp -d)"
  trap 'rm -rf "$folder"' EXIT
  python3 "$root/tests/memory/problems.py" "$folder"
fi
tool="$root/${ONNXC_BUILD:-build}/minimalloc"
shopt -s nullglob
files=("$folder"/*.csv)
if [ ${#files[@]} = 0 ]; then echo "minimalloc.sh: no CSV file in $folder" >&2; exit 2; fi
"$tool" --capacity "${2:-1048576}" "${files[@]}"
