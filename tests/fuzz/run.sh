#!/usr/bin/env bash
# Programs that look for inputs which crash onnxc, hang it or make it take memory without end; libFuzzer drives them, with the sanitizers.
#
#   tests/fuzz/run.sh                           a minute each
#   tests/fuzz/run.sh --seconds 3600 model      an hour of one: bytes, model, graph or data
#   tests/fuzz/run.sh --again FILE model        one input once more
#
# What ends a program lies in build-fuzz/found/NAME, and the run goes on. What is interesting is kept in build-fuzz/corpus, where the next run begins. Exit status 1 if anything was found.
# Needs what `tools/setup.sh --fuzz-deps` installs; the first build takes ten minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
seconds=60 again="" names=()
while [ $# -gt 0 ]; do
  case "$1" in
    --seconds) seconds="$2"; shift ;;
    --again) again="$(realpath "$2")"; shift ;;
    -h | --help) sed -n '2,/^set /s/^# \{0,1\}//p' "$0" | head -n -1; exit 0 ;;
    bytes | model | graph | data) names+=("$1") ;;
    *) echo "run.sh: $1? See --help" >&2; exit 2 ;;
  esac
  shift
done
[ ${#names[@]} -gt 0 ] || names=(bytes model graph data)
[ -e "$ONNX_FUZZ_ROOT/.complete" ] || { echo "skipped: ONNX's library with sanitizers is not there; tools/setup.sh --fuzz-deps builds it"; exit 77; }
export ONNX_ROOT="$ONNX_FUZZ_ROOT"
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --target "${names[@]/#/fuzz_}" -j "${ONNXC_JOBS:-$(nproc)}" | tail -n 1
# Protobuf's library is not instrumented, so the bounds of containers that it fills are unknown.
export ASAN_OPTIONS=detect_container_overflow=0 UBSAN_OPTIONS=print_stacktrace=1 PYTHONDONTWRITEBYTECODE=1
[ ! -d /dev/shm ] || export TMPDIR=/dev/shm  # each input is a file
limits=(-timeout=20 -rss_limit_mb=3000 -malloc_limit_mb=2000 -max_len=65536)
if [ -n "$again" ]; then exec "build-fuzz/fuzz_${names[0]}" "${limits[@]}" "$again"; fi
"$ONNXC_PYTHON" tests/fuzz/seeds.py "${ONNXC_BUILD:-build}/onnxc" build-fuzz/seeds
found=0
for name in "${names[@]}"; do
  mkdir -p "build-fuzz/corpus/$name" "build-fuzz/found/$name"
  log="build-fuzz/$name.log"
  # In a process of its own (-fork), so that a run survives what it finds.
  "build-fuzz/fuzz_$name" -fork=1 -ignore_crashes=1 -ignore_timeouts=1 -ignore_ooms=1 -max_total_time="$seconds" -artifact_prefix="build-fuzz/found/$name/" "${limits[@]}" \
    "build-fuzz/corpus/$name" "build-fuzz/seeds/$name" >"$log" 2>&1 </dev/null || true
  count="$(find "build-fuzz/found/$name" -type f | wc -l)"
  printf '%-6s %s; found: %s\n' "$name" "$(grep -oE '^#[0-9]+: cov: [0-9]+ ft: [0-9]+ corp: [0-9]+ exec/s:? [0-9]+ .*' "$log" | tail -n 1)" "$count"
  [ "$count" = 0 ] || found=1
done
exit $found
