#!/usr/bin/env bash
# Every reference kernel that the catalogue gives to GPUs compiles as device code, in every type. No GPU is needed.
#
#   tests/gpu/scalars.sh [ARCHITECTURE [ROW]...]      sm_80, where none is given; all rows
#
# Exit code 77 where there is no nvcc. NVCC names another one.
set -euo pipefail
cd "$(dirname "$0")/../.."
nvcc="${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}"
command -v "$nvcc" >/dev/null || { echo "skipped: no nvcc"; exit 77; }
architecture="${1:-sm_80}"
shift $(($# > 0 ? 1 : 0))

out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT
python3 tests/gpu/scalars.py . tests/gpu/scalars.list "$out/scalars.cu" "$@"
# What device code lacks is found at any level of optimisation, and this one takes the least time.
"$nvcc" -std=c++20 -arch="$architecture" --extended-lambda --expt-relaxed-constexpr -Iruntime_stub -Werror all-warnings -Xcicc -O1 -Xptxas -O0 \
  -Xcompiler -march=native,-w -c "$out/scalars.cu" -o "$out/scalars.o"
echo "$architecture: all compile"
