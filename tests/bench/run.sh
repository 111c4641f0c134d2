#!/usr/bin/env bash
# The comparison with other engines works, from a model to the table, the figures and the picture; what changed between two runs; and its refusals.
# Times are not looked at.
#
#   tests/bench/run.sh [BUILD_FOLDER]
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
ONNXC_EXECUTABLE="$(cd "${1:-build}" && pwd)/onnxc"
export ONNXC_EXECUTABLE PYTHONDONTWRITEBYTECODE=1
out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT
python="$ONNXC_BENCH_VENV/bin/python"
if [ ! -e "$ONNXC_BENCH_VENV/.complete" ]; then
  echo "no Python with the engines to compare with: tools/setup.sh --bench-deps"
  exit 77
fi
expect() {  # expect STATUS COMMAND...: it ends with that status and says at most one line on standard error
  local wanted="$1" status=0
  shift
  "$@" >"$out/said" 2>"$out/error" || status=$?
  [ "$status" = "$wanted" ] || { echo "exit status $status instead of $wanted: $*"; cat "$out/error"; exit 1; }
}
holds() { grep -q -- "$1" "$2" || { echo "no '$1' in $2:"; cat "$2"; exit 1; }; }

expect 0 "$python" bench/peers.py samples/digits/digits.onnx --threads 2 --scaling --native-loop --seconds 0.05 --out "$out/run"
holds '^| digits |' "$out/run/table.md"
holds '</svg>' "$out/run/ratios.svg"
cmp "$out/run/table.md" "$out/said"
"$python" - "$out/run/results.json" <<'END'
import json, sys
run = json.load(open(sys.argv[1]))
result, = run["results"]
assert set(result["engines"]) == {"onnxc", "ort", "ov"} and not result["notes"], result
assert all(0 < figures["best"] <= figures["median"] for figures in result["engines"].values()), result
assert result["macs"] > 0 and result["weights_bytes"] > 0 and result["arena_bytes"] > 0 and run["peak_macs"] > 0, result
assert result["one_thread"]["median"] > 0 and len(result["handover"]) == 2, result
assert result["onnxc_to_ort_rel_l2"] < 1e-5, result
END
expect 0 bench/compare.py "$out/run/results.json" "$out/run/results.json"
holds '^| digits | 2 |' "$out/said"
expect 2 bench/compare.py "$out/run/table.md" "$out/run/results.json"
expect 0 "$python" bench/regret.py samples/digits/digits.onnx --seconds 0.05 --option="--tune-cache=$out/tune.json" --out "$out/regret"
holds '^| digits |' "$out/regret/table.md"
"$python" -c 'import json, sys; told = json.load(open(sys.argv[1])); assert told["machine"]["date"] and told["models"]["digits"]["regret"] >= 1' "$out/regret/regret.json"
expect 1 "$python" bench/regret.py no-such-model.onnx
"$python" bench/architectures.py "$out/models" regnet r2plus1d fsrcnn 2>"$out/said"
holds fsrcnn/model.onnx "$out/said"
expect 0 "$ONNXC_EXECUTABLE" "$out/models/regnet/model.onnx" -o "$out/regnet.cpp" --explain
holds 'conv_grouped .*<--' "$out/said"
expect 2 "$python" bench/architectures.py "$out/models" no-such-architecture
expect 2 "$python" bench/peers.py
expect 3 "$python" bench/peers.py no-such-model.onnx
[ "$(wc -l <"$out/error")" = 1 ]

# Classical models: trained here, compared with whatever reads them, written into a page.
"$python" bench/classical_models.py "$out/trained" small_random_forest lightgbm_10 scaler_logistic tfidf_logistic 2>"$out/said"
holds tfidf_logistic/model.onnx "$out/said"
expect_any() { "$@" >"$out/said" 2>"$out/error" || { cat "$out/error"; exit 1; }; }  # the peers' own words are on standard error as well
printf '# Performance\n\n## All machines\n\nmany\n' >"$out/page.md"
for _ in once twice; do expect_any "$python" bench/classical_peers.py "$out"/trained/*/ --rows 1,16 --seconds 0.01 --peers ort,lightgbm,lleaves --out "$out/forests" --section "$out/page.md"; done
holds '^| lightgbm_10 | 10 | 310 | 1 |' "$out/forests/table.md"
[ "$(grep -c '^## ' "$out/page.md")" = 2 ]
holds '^many$' "$out/page.md"
"$python" - "$out/forests/results.json" <<'END'
import json, sys
run = json.load(open(sys.argv[1]))
results = {(r["name"], r["rows"]): r for r in run["results"]}
assert len(results) == 8 and not run["notes"], run["notes"]
assert set(results["lightgbm_10", 1]["engines"]) == {"onnxc", "ort", "lightgbm", "lleaves"} and results["lightgbm_10", 16]["difference"] == "equal", results["lightgbm_10", 16]
END
expect 0 bench/compare.py "$out/forests/results.json" "$out/forests/results.json"
expect 2 "$python" bench/classical_models.py "$out/trained" no-such-model
expect 3 "$python" bench/classical_peers.py no-such-model.onnx

# Quantised networks: the digits stand for a network of a zoo, which ONNX Runtime's quantiser quantises.
"$python" - samples/digits/digits.onnx "$out/zoo/churn_mlp" <<'END'
import pathlib, shutil, sys
import numpy as np, onnx
data = pathlib.Path(sys.argv[2], "test_data_set_0")
data.mkdir(parents=True)
shutil.copy(sys.argv[1], data.parent / "model.onnx")
x = onnx.load(sys.argv[1]).graph.input[0]
array = np.random.default_rng(1).random([d.dim_value or 1 for d in x.type.tensor_type.shape.dim], np.float32)
(data / "input_0.pb").write_bytes(onnx.numpy_helper.from_array(array, x.name).SerializeToString())
END
quantised() { "$python" bench/quantised_models.py "$out/zoo" --models "$out/made" --only '^churn_mlp' --seconds 0.05 "$@"; }
expect_any quantised --threads 2 --peers ort --section "$out/page.md"
expect_any quantised --out "$out/quantised" --section "$out/page.md"
holds '^| churn_mlp.qdq_i8 |' "$out/quantised/table.md"
holds '^Results that differ by more than they are known to: none' "$out/page.md"
[ "$(grep -c '^## ' "$out/page.md")" = 3 ]
expect 0 bench/compare.py "$out/quantised/results.json" "$out/quantised/results.json"
expect_any "$python" bench/quantised_models.py --list --only '^gemv'
holds '^gemv4096.nbits8$' "$out/said"
expect 3 "$python" bench/quantised_models.py "$out/zoo" --only resnet18
expect 2 "$python" bench/quantised_models.py "$out/zoo" --threads none

# The cost that is fitted is the compiler's.
"$python" - <<'END'
import sys
sys.path.insert(0, "bench")
import fit_costs
lines = [list(map(float, line.split())) for line in open("tests/select/kernel_costs.txt") if not line.startswith("#")]
assert len(lines) == 6
for *costs, macs, size, ns in lines:
    assert abs(fit_costs.predict(costs, macs, size) - ns) < 1e-6 * ns, (costs, macs, size, ns)
END
# The cost of a kernel is found again from figures that follow the model exactly.
"$python" - "$out/kernels.json" <<'END'
import json, sys
runs = [{"name": f"winograd_4_3/{m}", "cpu_time": 100 + max(0.02 * m, 0.1 * b) + 0.4 * min(0.02 * m, 0.1 * b), "time_unit": "ns", "macs": m, "bytes": b}
        for m, b in [(1e3, 1e2), (1e5, 1e3), (1e6, 1e6), (1e4, 1e6), (1e7, 1e3)]]
json.dump({"context": {"date": "2026-01-01T00:00:00+00:00", "fma_peak_gmacs": "50"}, "benchmarks": runs}, open(sys.argv[1], "w"))
END
expect 0 "$python" bench/fit_costs.py "$out/kernels.json"
holds '^ONNXC_KERNEL(\.name = "winograd_4_3", .*\.per_call = 100, \.per_mac = 0\.02, \.per_byte = 0\.1, ' "$out/said"
echo "the benchmarks' commands work"
