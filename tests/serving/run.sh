#!/usr/bin/env bash
# The server of the Open Inference Protocol: its answers, its errors, joined requests, reload, its end; and a program with its models inside.
#
#   tests/serving/run.sh [BUILD_FOLDER] [--all]     --all: also an image with nothing but the server, sanitizers, and ten minutes of load
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="build" all=no
for argument in "$@"; do
  case "$argument" in
    --all) all=yes ;;
    *) build="$argument" ;;
  esac
done
onnxc="$(realpath "$build")/onnxc"
if "$onnxc" serve 2>&1 | grep -q 'built without'; then echo "(this onnxc has no server: tools/setup.sh installs Boost's headers)"; exit 77; fi
"$ONNXC_PYTHON" tests/serving/check_protocol.py "$onnxc"
"$ONNXC_PYTHON" tests/serving/check_operation.py "$onnxc"
if [ -e "$ONNXC_SERVER_VENV/.complete" ]; then
  "$ONNXC_SERVER_VENV/bin/python" tests/serving/check_clients.py "$onnxc"
else echo "(no clients of others: tools/setup.sh --server-deps)"; fi
image=()
if [ $all = yes ]; then
  if command -v buildah >/dev/null && [ "$(id -u)" = 0 ]; then image=(--all); else echo "(no image: that wants root and buildah)"; fi
fi
if [ "$(uname -m)" = x86_64 ]; then "$ONNXC_PYTHON" tests/serving/check_program.py "$build" "${image[@]}"; else echo "(the sample is for x86-64)"; fi
if [ $all = yes ]; then
  for sanitizers in thread address,undefined; do "$ONNXC_PYTHON" tests/serving/check_sanitized.py "$build" "$sanitizers"; done
  "$ONNXC_PYTHON" tests/serving/soak.py "$onnxc"
fi
