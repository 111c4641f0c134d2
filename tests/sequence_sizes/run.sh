#!/usr/bin/env bash
# Models with open dimensions give what ONNX Runtime gives at many sizes of these, and so do caches that are kept as states; see check.py.
#
#   tests/sequence_sizes/run.sh [BUILD_FOLDER [--all] [--seed N] [MODEL...]]      MODEL: names of models; by default a few of each kind
#
# Units are built with -O0, with --all at -O3.
set -uo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
case " $* " in
  *" --all "*) ;;
  *) export AT_LEVEL_CXX="${ONNXC_CXX:-${CXX:-c++}}" AT_LEVEL=-O0 ONNXC_CXX="$here/../at_level.sh" ;;
esac
folder="$("$here/../zoo/folder.sh" --all)" || exit $?
build="${1:-build}"
[ $# = 0 ] || shift
exec "$here/../run_check.sh" tests/sequence_sizes/check.py 'numpy, onnx, onnxruntime' "$build" "$folder" "$@"
