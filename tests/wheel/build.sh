#!/usr/bin/env bash
# Makes the wheel, in build-wheel, with the platform tag that auditwheel finds; it carries no libraries and is small.
#
#   tests/wheel/build.sh FOLDER
set -euo pipefail
mkdir -p "$1"
folder="$(cd "$1" && pwd)"
cd "$(dirname "$0")/../.."
. tools/env.sh
[ -x "$ONNXC_PACKAGE_VENV/bin/auditwheel" ] || { echo "no auditwheel: tools/setup.sh --package-deps"; exit 77; }
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
PATH="$ONNXC_BUILD_VENV/bin:$PATH" "$ONNXC_BUILD_VENV/bin/python" -m pip wheel . --quiet --disable-pip-version-check --no-build-isolation --no-deps \
  --wheel-dir "$work" --config-settings=build-dir=build-wheel
PATH="$ONNXC_PACKAGE_VENV/bin:$PATH" auditwheel repair --wheel-dir "$folder" "$work"/onnxc-*.whl
wheel=("$folder"/onnxc-*.whl)
unzip -l "${wheel[0]}" | grep -q '\.so' && { echo "FAILED: the wheel carries libraries"; exit 1; }
bytes="$(stat -c %s "${wheel[0]}")"
echo "$(basename "${wheel[0]}"): $bytes bytes"
[[ "${wheel[0]}" == *-manylinux_2_34_*.whl ]] || { echo "FAILED: it asks for a newer C library than that of 2021"; exit 1; }
[ "$bytes" -le 25000000 ] || { echo "FAILED: more than 25 MB"; exit 1; }
