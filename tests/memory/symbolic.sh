#!/usr/bin/env bash
# Compares the arenas of models with symbolic sizes with plans made for each size alone; see symbolic.cpp.
#
#   tests/memory/symbolic.sh [FOLDER]
#
# FOLDER holds one folder a model, with model.onnx. Without one, tests/zoo/folder.sh says which.
# ONNXC_BUILD is the build folder, `build` by default.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
. "$root/tools/env.sh"
folder="${1:-$("$root/tests/zoo/folder.sh")}" || exit $?
shopt -s nullglob
models=("$folder"/*/model.onnx)
if [ ${#models[@]} = 0 ]; then echo "symbolic.sh: no NAME/model.onnx in $folder" >&2; exit 2; fi
exec "$root/${ONNXC_BUILD:-build}/symbolic_arenas" "${models[@]}"
