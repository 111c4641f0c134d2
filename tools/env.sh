# Where things are. Source it: `. tools/env.sh`. Everything can be set beforehand.
#
#   ONNXC_SOURCE   the source tree
#   ONNXC_CACHE    what tools/setup.sh built or downloaded once, outside the build trees
#   ONNX_ROOT      ONNX's C++ library (find_package(ONNX) looks here)
#   ONNXC_PYTHON   a Python with numpy, onnx and onnxruntime, once `tools/setup.sh --test-deps` made it; else the system's
ONNXC_SOURCE="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
ONNXC_CACHE="${ONNXC_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/onnxc}"

# The pins. A change of one of them, or of its recipe (the last number), makes a new folder in the cache.
ONNX_VERSION=1.23.2
ONNX_SHA256=008cb0467b2bbee41448acc7da8b6f4e704624cb0d327a2d5adafc7ce19bc5b8
ONNX_ROOT="${ONNX_ROOT:-$ONNXC_CACHE/onnx-$ONNX_VERSION-1}"
ONNX_FUZZ_ROOT="$ONNXC_CACHE/onnx-$ONNX_VERSION-1-fuzz"  # the same with sanitizers, which `tools/setup.sh --fuzz-deps` builds
ONNXC_BUILD_VENV="$ONNXC_CACHE/venv-build-1"
ONNXC_TEST_VENV="$ONNXC_CACHE/venv-test-1"
ONNXC_BENCH_VENV="$ONNXC_CACHE/venv-bench-3"
ONNXC_PACKAGE_VENV="$ONNXC_CACHE/venv-package-1"
ONNXC_SERVER_VENV="$ONNXC_CACHE/venv-server-1"
ONNXC_PYTORCH_VENV="$ONNXC_CACHE/venv-pytorch-1"
ONNXC_TENSORFLOW_VENV="$ONNXC_CACHE/venv-tensorflow-1"
ONNXC_JAX_VENV="$ONNXC_CACHE/venv-jax-1"
ONNXC_DOCS_VENV="$ONNXC_CACHE/venv-docs-1"
ONNXC_CLUSTER_VENV="$ONNXC_CACHE/venv-cluster-1"

if [ -z "${ONNXC_PYTHON:-}" ]; then
  if [ -e "$ONNXC_TEST_VENV/.complete" ]; then ONNXC_PYTHON="$ONNXC_TEST_VENV/bin/python"; else ONNXC_PYTHON=python3; fi
fi
export ONNXC_SOURCE ONNXC_CACHE ONNX_ROOT ONNXC_PYTHON
