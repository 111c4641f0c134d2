#!/usr/bin/env bash
# Runs what prepare.sh compiled, on the machine that has the GPU: is it right, and how fast? Each part has a limit, prints one table, and the
# next one starts whatever happened.
#
#   bench/gpu/device.sh FOLDER OUT      OUT: a folder for results.json, which page.py reads, gpu_costs.json, which fit_costs.py reads, and
#                                       said.txt, for what programs said
#
# It needs nothing but bash, coreutils, grep and sed. ONNXC_GPU_SECONDS is how long each figure is measured (default: 1; kernels: 0.5).
# ONNXC_GPU_SHRINK divides their sizes, for the emulator. Exit code: 1 if something was
# wrong or did not end.
set -uo pipefail
[ $# = 2 ] || { sed -n 5p "$0" >&2; exit 2; }
folder="$(cd "$1" && pwd)" || exit 2
mkdir -p "$2" && out="$(cd "$2" && pwd)" || exit 2
seconds="${ONNXC_GPU_SECONDS:-1}" cost_seconds="${ONNXC_GPU_SECONDS:-0.5}" copy_bytes="${ONNXC_GPU_COPY_BYTES:-268435456}" shrink="${ONNXC_GPU_SHRINK:-1}"
said="$out/said.txt"
: >"$said"
wrong=0

# limited SECONDS COMMAND...: what it writes; other words go to said.txt
limited() { timeout --kill-after=5 "$@" 2>>"$said"; }
# field LINE NAME: of a line of JSON
field() { sed -nE 's/.*"'"$2"'": "?([^",}]*)"?.*/\1/p' <<<"$1"; }
text() { sed 's/\\/\\\\/g; s/"/\\"/g' <<<"$1"; }

echo "== the machine"
machine="$(limited 30 "$folder/machine" "$copy_bytes" "$seconds")" || machine=
driver="$(command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=driver_version,clocks.max.sm --format=csv,noheader 2>>"$said" | head -n 1)" || driver=
if [ -n "$machine" ]; then
  printf '  %s, compute capability %s, %s multiprocessors, driver and clock %s\n' "$(field "$machine" gpu)" "$(field "$machine" capability)" \
    "$(field "$machine" multiprocessors)" "${driver:-unknown}"
  printf '  launch %s us; GB/s to the device %s, to the host %s, on the device %s\n' "$(field "$machine" launch_us)" \
    "$(field "$machine" to_device_gb_s)" "$(field "$machine" to_host_gb_s)" "$(field "$machine" on_device_gb_s)"
else
  wrong=$((wrong + 1)) machine=null
  echo "  NO ANSWER: see $said"
fi

echo "== kernels against loops in double"
kernels=() count=0 failed=0
for program in "$folder"/tests/*; do
  [ -x "$program" ] || continue
  while IFS= read -r name; do
    [ -n "$name" ] || continue
    # Commas part the tests of a list, brackets begin a tag.
    chosen="$(sed 's/[\\,[]/\\&/g' <<<"$name")"
    begin=${EPOCHREALTIME/[.,]/}
    limited 60 "$program" "$chosen" >"$out/test.txt"
    code=$?
    ms=$(((${EPOCHREALTIME/[.,]/} - begin) / 1000))
    # A list that names nothing ends well, too.
    if [ $code = 0 ] && grep -q 'All tests passed' "$out/test.txt"; then right=true; else
      right=false failed=$((failed + 1))
      { echo "-- $name: $code"; tail -n 30 "$out/test.txt"; } >>"$said"
      printf '  WRONG (%s) %s: %s\n' "$code" "${program##*/}" "$name"
    fi
    count=$((count + 1))
    kernels+=("{\"file\": \"${program##*/}\", \"test\": \"$(text "$name")\", \"right\": $right, \"ms\": $ms}")
  done < <("$program" --list-test-names-only 2>>"$said")
done
rm -f "$out/test.txt"
echo "  $count tests, $failed wrong"
[ $count -gt 0 ] && [ $failed = 0 ] || wrong=$((wrong + 1))

echo "== models: us of a run, with data on the host, on the device, and there by a graph"
units=() failed=0
for program in "$folder"/units/*/unit; do
  [ -x "$program" ] || continue
  model="$(basename "$(dirname "$program")")"
  line="$(limited 60 "$program" "$(dirname "$program")" "$seconds")"
  code=$?
  if [ -n "$line" ]; then
    units+=("$line")
    printf '  %-28s %-6s error %-9s %10s %10s %10s\n' "$model" "$([ $code = 0 ] && echo right || echo WRONG)" "$(field "$line" error)" \
      "$(field "$line" host_us)" "$(field "$line" device_us)" "$(field "$line" graph_us)"
  else
    units+=("{\"model\": \"$model\", \"right\": false}")
    printf '  %-28s NO ANSWER (%s)\n' "$model" "$code"
  fi
  [ $code = 0 ] || failed=$((failed + 1))
done
[ ${#units[@]} -gt 0 ] && [ $failed = 0 ] || wrong=$((wrong + 1))

echo "== kernels: us of one in a graph"
limited 240 "$folder/costs" "$cost_seconds" "$shrink" >"$out/costs.txt"
code=$?
mapfile -t costs < <(grep -x '{.*}' "$out/costs.txt") # a line may have been cut off
for line in ${costs[@]+"${costs[@]}"}; do
  printf '  %-46s %12s\n' "$(field "$line" name)" "$(field "$line" cpu_time)"
done
rm -f "$out/costs.txt"
[ $code = 0 ] && [ ${#costs[@]} -gt 0 ] || { wrong=$((wrong + 1)) && echo "  ENDED EARLY ($code)"; }

joined() { local IFS=,; sed 's/},{/},\n    {/g' <<<"$*"; }
cat >"$out/results.json" <<END
{
  "date": "$(date -u +%Y-%m-%d)",
  "commit": "$(cat "$folder/commit" 2>/dev/null)",
  "driver": "$(text "$driver")",
  "machine": $machine,
  "kernels": [
    $(joined ${kernels[@]+"${kernels[@]}"})
  ],
  "units": [
    $(joined ${units[@]+"${units[@]}"})
  ]
}
END
cat >"$out/gpu_costs.json" <<END
{
  "context": {"date": "$(date -u +%Y-%m-%dT%H:%M:%S+00:00)"},
  "benchmarks": [
    $(joined ${costs[@]+"${costs[@]}"})
  ]
}
END
echo "wrote $out/results.json and gpu_costs.json; parts with faults: $wrong"
[ $wrong = 0 ]
