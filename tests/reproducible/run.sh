#!/usr/bin/env bash
# The same model and options give the same bytes, wherever and however onnxc is started; see check.py.
#
#   tests/reproducible/run.sh [BUILD_FOLDER [--all]]      two networks, or all that are made and five of the zoo
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="$(cd "${1:-build}" && pwd)"
[ -x "$build/onnxc" ] || { echo "(no $build/onnxc)"; exit 77; }
"$ONNXC_PYTHON" -c 'import onnx, numpy' 2>/dev/null || { echo "(no Python with onnx; tools/setup.sh --test-deps makes one)"; exit 77; }
work="$(mktemp -d)"
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
# Locales with a comma before the decimals, and with an i whose capital has a dot.
for locale in de_DE tr_TR; do localedef -i $locale -f UTF-8 "$work/$locale.UTF-8" >/dev/null 2>&1 || rm -rf "${work:?}/$locale.UTF-8"; done
"$ONNXC_PYTHON" -B tests/reproducible/check.py "$build/onnxc" "$work" "${@:2}"
