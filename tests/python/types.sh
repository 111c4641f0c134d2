#!/usr/bin/env bash
# The types that the Python package states: mypy --strict has no word about the package, nor about a program that uses all of it.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
mypy="${MYPY:-$ONNXC_TEST_VENV/bin/mypy}"
[ -x "$mypy" ] || { echo "no mypy: tools/setup.sh --test-deps"; exit 77; }
export MYPYPATH=python
exec "$mypy" --config-file pyproject.toml --python-version 3.10 --cache-dir "$ONNXC_CACHE/mypy" python/onnxc tests/python/user.py
