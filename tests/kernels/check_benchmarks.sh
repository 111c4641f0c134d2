#!/usr/bin/env bash
# Every row of the kernel catalogue has a benchmark in tools/kernel_bench, but for rows whose function is the user's, transfers
# to and from GPUs, and kernels of a GPU's own, which no processor can time.
set -euo pipefail
cd "${1:-.}"
sources=(tools/kernel_bench/*.cpp)
missing=0
while IFS= read -r row; do
  grep -qF "\"$row\"" "${sources[@]}" || { echo "row $row of targets/kernels has no benchmark: suite.add(\"$row\", ...) in tools/kernel_bench"; missing=1; }
done < <(sed -nE '/RunsOn::Gpu/d; s/^ONNXC_KERNEL\(\.name = "([^"]+)", \.header = "[^"]+", \.function = "[^".][^"]*".*/\1/p' targets/kernels/*.inc)
exit $missing
