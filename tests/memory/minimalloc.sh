#!/usr/bin/env bash
# Packs MiniMalloc's hard allocation problems (its benchmarks/challenging, capacity 1 MiB) with onnxc's planner.
#
#   tests/memory/minimalloc.sh [FOLDER [CAPACITY]]
#
# FOLDER holds CSV files with the columns id,lower,upper,size. Without one, ../shared/prototypes/planner is taken where it exists; else there
# is nothing to test.
# ONNXC_BUILD is the build folder, `build` by default.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
folder="${1:-$root/../shared/prototypes/planner}"
if [ $# = 0 ] && [ ! -d "$folder" ]; then echo "skipped: no folder of problems was given and ../shared/prototypes/planner does not exist"; exit 77; fi
tool="$root/${ONNXC_BUILD:-build}/minimalloc"
shopt -s nullglob
files=("$folder"/*.csv)
if [ ${#files[@]} = 0 ]; then echo "minimalloc.sh: no CSV file in $folder" >&2; exit 2; fi
exec "$tool" --capacity "${2:-1048576}" "${files[@]}"
