#!/usr/bin/env bash
# Models that frameworks export give what the frameworks give: exported, compiled, run.
#
#   tests/exporters/run.sh [BUILD_FOLDER]             scikit-learn, LightGBM, XGBoost: what `tools/setup.sh --bench-deps` installs
#   tests/exporters/run.sh BUILD_FOLDER --all         also PyTorch, Hugging Face, TensorFlow, JAX: --exporter-deps
#
# Many units are built in one, at -O0 (tests/units.py). The blocks of docs/exporting.md run, too.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
build="$(cd "${1:-build}" && pwd)"
export ONNXC_EXECUTABLE="$build/onnxc" PYTHONPATH=python PYTHONDONTWRITEBYTECODE=1
ran=no code=0
check() {  # check ENVIRONMENT SCRIPT ARGUMENT...
  [ -e "$1/.complete" ] || { echo "(skipped: ${*:2})"; return; }
  ran=yes
  "$1/bin/python" "tests/exporters/$2" "${@:3}" || code=1
}
export AT_LEVEL=-O0 AT_LEVEL_CXX="${ONNXC_CXX:-${CXX:-c++}}" ONNXC_CXX="$PWD/tests/at_level.sh"  # what the recipes build
check "$ONNXC_BENCH_VENV" from_sklearn.py
check "$ONNXC_BENCH_VENV" from_boosting.py
check "$ONNXC_BENCH_VENV" recipes.py scikit-learn LightGBM XGBoost
if [ "${2:-}" = --all ]; then
  check "$ONNXC_PYTORCH_VENV" from_pytorch.py
  check "$ONNXC_PYTORCH_VENV" from_hugging_face.py
  check "$ONNXC_PYTORCH_VENV" recipes.py PyTorch "Hugging Face"
  check "$ONNXC_TENSORFLOW_VENV" from_tensorflow.py
  check "$ONNXC_TENSORFLOW_VENV" recipes.py "TensorFlow and Keras"
  check "$ONNXC_JAX_VENV" from_jax.py
  check "$ONNXC_JAX_VENV" recipes.py "JAX and Flax"
fi
[ $ran = yes ] || { echo "no frameworks: tools/setup.sh --bench-deps, --exporter-deps"; exit 77; }
exit $code
