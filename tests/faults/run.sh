#!/usr/bin/env bash
# Memory, files, disks and signals fail onnxc at each moment in turn: it says so in one line, and leaves the old files as they were, all of
# them, and nothing else. See check.py.
#
#   tests/faults/run.sh [BUILD_FOLDER [--all] [--only REGEX]]      a sample of all moments; --all: each of files, thousands of memory
exec "$(dirname "$0")/../run_check.sh" tests/faults/check.py 'numpy, onnx' "$@"
