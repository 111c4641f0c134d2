#!/usr/bin/env bash
# clang-tidy on C++ (.clang-tidy has the checks): on what changed last, or on everything.
#
#   tests/tidy/run.sh              at most 8 files: those of the working tree, then those of the last commits; none of tools/kernel_bench, whose files
#                                  instantiate all kernels and take several times as long as others
#   tests/tidy/run.sh --all        everything that is compiled
#   tests/tidy/run.sh FILE...      these
#
# Compilers and their options are those of the build folder; options that clang does not know, and precompiled headers, are left out. Each file is read
# alone, also where the build compiles several together.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
tidy="$(command -v clang-tidy-14 || command -v clang-tidy)" || { echo "no clang-tidy: tools/setup.sh --test-deps"; exit 77; }
build="${ONNXC_BUILD:-build}"
[ -f "$build/compile_commands.json" ] || { echo "no $build/compile_commands.json: cmake --preset release"; exit 77; }
commands="$(mktemp -d)"
trap 'rm -rf "$commands"' EXIT
"$ONNXC_PYTHON" - "$build/compile_commands.json" "$commands/compile_commands.json" <<'PYTHON'
import json
import re
import sys

entries = []
for entry in json.load(open(sys.argv[1])):
    entry["command"] = re.sub(r" -include \S*cmake_pch\S*| -Winvalid-pch| -W\S+| -fpch\S*", "", entry["command"])
    together = "/Unity/unity_" in entry["file"]
    for file in re.findall(r'^#include "(.*)"', open(entry["file"]).read(), re.MULTILINE) if together else [entry["file"]]:
        entries.append({**entry, "file": file, "command": entry["command"].replace(entry["file"], file)})
json.dump(entries, open(sys.argv[2], "w"))
PYTHON
compiled() { "$ONNXC_PYTHON" -c 'import json, os, sys; print("\n".join(sorted({os.path.relpath(e["file"]) for e in json.load(open(sys.argv[1]))})))' "$commands/compile_commands.json" | grep -E '^(compiler|codegen|serving|targets|tools)/.*\.cpp$'; }
changed() { { git diff --name-only HEAD; git ls-files --others --exclude-standard; git log -20 --name-only --format=; } 2>/dev/null; }
case "${1:-}" in
  --all) mapfile -t files < <(compiled) ;;
  "") mapfile -t files < <(changed | awk 'NF && !seen[$0]++' | grep -Fxf <(compiled | grep -v '^tools/kernel_bench/') | head -8) ;;
  *) files=("$@") ;;
esac
[ ${#files[@]} -gt 0 ] || { echo "nothing that is compiled has changed"; exit 77; }
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "${ONNXC_JOBS:-$(nproc)}" "$tidy" -p "$commands" --quiet \
  2> >(grep -vE '^[0-9]+ warnings? .*(generated|treated as errors?)|^[0-9]+ (warnings?|errors?) ' >&2)  # how many were found in all headers
code=$?
[ $code = 0 ] && echo "${#files[@]} files are as .clang-tidy asks"
exit $code
