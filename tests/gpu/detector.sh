#!/usr/bin/env bash
# A detector whose convolutions run on the emulated GPU and whose last part on the processor, against ONNX Runtime, with the onnxc that was built.
#
#   tests/gpu/detector.sh [BUILD_FOLDER]
exec "$(dirname "$0")/../run_check.sh" tests/gpu/detector.py 'numpy, onnx, onnxruntime' "$@"
