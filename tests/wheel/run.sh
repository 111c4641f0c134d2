#!/usr/bin/env bash
# The wheel: it is built, depends on the libraries of C and of the compiler alone, is small, and passes the tests of the Python package where nothing else of onnxc is.
#
#   tests/wheel/run.sh [BUILD_FOLDER]         the same package as BUILD_FOLDER's onnxc and `cmake --install` make it, in seconds
#   tests/wheel/run.sh BUILD_FOLDER --all     the wheel itself, which compiles onnxc once more, into build-wheel
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="$(cd "${1:-build}" && pwd)" all="${2:-}"
"$ONNXC_PYTHON" -c 'import numpy, onnx' 2>/dev/null || { echo "no Python with numpy and onnx: tools/setup.sh --test-deps"; exit 77; }
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
"$ONNXC_PYTHON" -m venv "$work/venv"
site="$("$work/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
"$ONNXC_PYTHON" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$site/tests.pth"  # numpy and onnx

if [ "$all" = --all ]; then
  tests/wheel/build.sh "$work/made"
  "$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps "$work"/made/onnxc-*.whl
else
  cmake --install "$build" --prefix "$site/onnxc" >/dev/null
  cp -r python/onnxc/. "$site/onnxc"
  rm -rf "$site/onnxc/__pycache__"
fi
[ -e "$site/onnxc/py.typed" ] || { echo "FAILED: py.typed is missing"; exit 1; }

unset ONNXC_EXECUTABLE
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$PWD/python/tests" PATH="$work/venv/bin:/usr/local/bin:/usr/bin:/bin"
cd "$work"  # no source tree around
[ "$(python -c 'import onnxc; print(onnxc.find_executable())')" = "$site/onnxc/bin/onnxc" ] || { echo "FAILED: another onnxc is taken"; exit 1; }
if [ "$all" = --all ]; then onnxc --version; fi
exec python -m unittest discover -s "$OLDPWD/python/tests"
