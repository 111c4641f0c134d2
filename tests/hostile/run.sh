#!/usr/bin/env bash
# Files that lie end in one line that says so, or in C++ that compiles; see cases.py and forms.py.
#
#   tests/hostile/run.sh                   the named cases, and one form of 60
#   tests/hostile/run.sh --all             all 430,000 forms: more than an hour on two processors
#   tests/hostile/run.sh FOLDER            the models of any folder; see folder.py
#   tests/hostile/run.sh --stride 7 --offset 3 --filter '^Conv'
#
# ONNXC_BUILD names the build folder (default: build).
set -uo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="${ONNXC_BUILD:-build}"
[ -x "$build/onnxc" ] || { echo "(no $build/onnxc)"; exit 77; }
"$ONNXC_PYTHON" -c 'import ml_dtypes, onnx, onnxruntime' 2>/dev/null || { echo "no Python with onnxruntime: tools/setup.sh --test-deps"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1 ONNXC_EXECUTABLE="$PWD/$build/onnxc"
[ ! -d "${1:-}" ] || exec "$ONNXC_PYTHON" tests/hostile/folder.py --binary "$build/onnxc" "$1"
"$ONNXC_PYTHON" tests/hostile/check_judge.py || exit 1
code=0
"$ONNXC_PYTHON" tests/hostile/cases.py --binary "$build/onnxc" || code=1
"$ONNXC_PYTHON" -W ignore tests/hostile/forms.py --binary "$build/onnxc" --stride 60 "$@" || code=1
exit $code
