#!/usr/bin/env bash
# Models over tables: columns and failures by row; the same on clusters of two local workers each, of Ray and of Spark, to the bit, and right against ONNX Runtime.
#
#   tests/cluster/run.sh [BUILD_FOLDER]          small tables
#   tests/cluster/run.sh BUILD_FOLDER --all      a million rows; also the blocks of docs/clusters.md
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
ONNXC_EXECUTABLE="$(cd "${1:-build}" && pwd)/onnxc"
python="$ONNXC_CLUSTER_VENV/bin/python"
if [ ! -e "$ONNXC_CLUSTER_VENV/.complete" ]; then
  echo "no Python with Ray and Spark: tools/setup.sh --cluster-deps"
  exit 77
fi
export ONNXC_EXECUTABLE PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$PWD/python:$PWD/tests/cluster"
ONNXC_CLUSTER_ROWS=3000
[ "${2:-}" != --all ] || ONNXC_CLUSTER_ROWS=1000000
export ONNXC_CLUSTER_ROWS
work="$(mktemp -d)"
export TMPDIR="$work" PYTHONWARNINGS=ignore
# What engines start has this folder in its environment, and goes with it, however this ends.
finish() {
  local process
  for process in /proc/[0-9]*; do
    if grep -qsz "^TMPDIR=$work" "$process/environ"; then kill -KILL "${process#/proc/}" 2>/dev/null || true; fi
  done
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM
if [ "${2:-}" = --all ]; then  # the blocks of the page for users, one after the other as one program
  sed -n '/^```python$/,/^```$/{/^```/d;p}' docs/clusters.md >"$work/page.py"
  (cd "$work" && PATH="$ONNXC_CLUSTER_VENV/bin:$PATH" timeout 600 python page.py) >"$work/said" 2>&1 || { tail -n 60 "$work/said"; echo "FAILED: docs/clusters.md"; exit 1; }
  grep -q "column 'features' has the shape \[2\] in this row" "$work/said" || { cat "$work/said"; echo "FAILED: docs/clusters.md shows no failed row"; exit 1; }
  echo "docs/clusters.md: runs"
fi
for file in test_tables test_ray test_spark; do
  timeout 1200 "$python" -m unittest -q "$file" 2>"$work/said" >&2 || { tail -n 60 "$work/said"; echo "FAILED: $file"; exit 1; }
  grep '^Ran' "$work/said" | sed "s/^/$file: /"
done
