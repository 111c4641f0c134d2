#!/usr/bin/env bash
# Classifiers of scikit-learn, LightGBM and XGBoost compile without a heap. Needs tools/setup.sh --bench-deps.
#
#   tests/ml/no_heap.sh [BUILD_FOLDER]
exec "$(dirname "$0")/../run_check.sh" tests/ml/no_heap.py numpy "$@"
