#!/usr/bin/env bash
# Every block of code on the pages of the site runs, or is parsed; the site builds, opens and is searched without another host.
#
#   tests/docs/run.sh [--all] [PAGE-REGEX]     --all: also commands that take long
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="${ONNXC_BUILD:-build}" all=() page=""
for argument in "$@"; do
  if [ "$argument" = --all ]; then all=(--all); else page="$argument"; fi
done
[ -x "$build/onnxc" ] || { echo "(no $build/onnxc)"; exit 77; }
"$ONNXC_PYTHON" -c 'import onnx, numpy' 2>/dev/null || { echo "(no Python with onnx; tools/setup.sh --test-deps makes one)"; exit 77; }
code=0
"$ONNXC_PYTHON" -B tests/docs/check.py "$build" "${all[@]}" --page "$page" || code=1
if [ -n "$page" ]; then
  :
elif [ -e "$ONNXC_DOCS_VENV/.complete" ]; then
  "$ONNXC_PYTHON" -B tests/docs/site.py "$build" || code=1
else
  echo "(no MkDocs, so no site: tools/setup.sh --docs-deps)"
fi
exit $code
