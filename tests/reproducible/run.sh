#!/usr/bin/env bash
# The same model and options give the same bytes, wherever and however onnxc is started; see check.py.
#
#   tests/reproducible/run.sh [BUILD_FOLDER [--all]]      two networks, or all that are made and five of the zoo
exec "$(dirname "$0")/../run_check.sh" tests/reproducible/check.py 'numpy, onnx' "$@"
