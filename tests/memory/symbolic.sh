#!/usr/bin/env bash
# Compares the arenas of models with symbolic sizes with plans made for each size alone; see symbolic.cpp.
#
#   tests/memory/symbolic.sh [FOLDER]
#
# FOLDER holds one folder a model, with model.onnx. Without one, $ONNXC_CACHE/zoo is taken where it exists (tests/zoo/run.sh fills it); else there is nothing to test.
# ONNXC_BUILD is the build folder, `build` by default.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
. "$root/tools/env.sh"
folder="${1:-$ONNXC_CACHE/zoo}"
if [ $# = 0 ] && [ ! -d "$folder" ]; then echo "skipped: no folder of models was given and there is none in the cache"; exit 77; fi
shopt -s nullglob
models=("$folder"/*/model.onnx)
if [ ${#models[@]} = 0 ]; then echo "symbolic.sh: no NAME/model.onnx in $folder" >&2; exit 2; fi
exec "$root/${ONNXC_BUILD:-build}/symbolic_arenas" "${models[@]}"
