#!/usr/bin/env bash
# What surrounds the command: completion in shells, the manual page, options in a file, errors for programs, colours.
#
#   tests/shell/run.sh [BUILD_FOLDER]
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
onnxc="$(cd "${1:-build}" && pwd)/onnxc" model="$PWD/samples/digits/digits.onnx"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
check() {  # check NAME COMMAND...: an expectation
  if "${@:2}" >"$work/said" 2>&1; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED $1"; head -n 5 "$work/said"; fi
}
says() { local text="$1" status=0; shift; "$@" >"$work/out" 2>&1 || status=$?; grep -qF -- "$text" "$work/out" || { cat "$work/out"; return 1; }; }

# bash: the last word is completed.
completed() {  # completed WANTED WORD...
  bash -c 'eval "$("$1" completion bash)"; COMP_WORDS=("${@:3}"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _onnxc; printf "%s\n" "${COMPREPLY[@]}" | grep -qxF -- "$2" || { printf "%s\n" "${COMPREPLY[@]}"; exit 1; }' - "$onnxc" "$@"
}
check "bash: subcommands" completed verify onnxc ver
check "bash: options" completed --math onnxc model.onnx --ma
check "bash: options of a subcommand" completed --each-pass onnxc verify --ea
check "bash: values" completed strict onnxc --math st
check "bash: values behind =" completed strict onnxc run --math = st
check "bash: files" bash -c "cd '$work' && touch a_model.onnx && $(declare -f completed) && onnxc='$onnxc' && completed a_model.onnx onnxc run a_mo"
"$onnxc" completion zsh >"$work/_onnxc"
"$onnxc" completion fish >"$work/onnxc.fish"
"$onnxc" manual >"$work/onnxc.1"
if command -v zsh >/dev/null; then
  check "zsh: it is a script" zsh -n "$work/_onnxc"
  check "zsh: it loads" zsh -fc "fpath=('$work' \$fpath); autoload -Uz compinit; compinit -D -u; [[ \$_comps[onnxc] == _onnxc ]]"
else echo "(no zsh)"; fi
if command -v fish >/dev/null; then
  check "fish: options of a subcommand" says --each-pass fish --no-config -c "source '$work/onnxc.fish'; complete -C 'onnxc verify --ea'"
  check "fish: values" says strict fish --no-config -c "source '$work/onnxc.fish'; complete -C 'onnxc --math '"
  check "fish: subcommands" says verify fish --no-config -c "source '$work/onnxc.fish'; complete -C 'onnxc ver'"
else echo "(no fish)"; fi
if command -v groff >/dev/null; then
  check "the manual page has no mistakes" bash -c '[ -z "$(groff -man -Tutf8 -ww -z "$1" 2>&1)" ]' - "$work/onnxc.1"
  check "the manual page names options of subcommands" says each-pass groff -man -Tascii "$work/onnxc.1"
else echo "(no groff)"; fi

# Options in a file.
printf 'target = "generic"\nmath = "strict"\ndim = ["batch=2", "time=3"]\n[run]\nthreads = 2\n' >"$work/onnxc.toml"
check "options from a file" bash -c '"$1" "$2" --config "$3/onnxc.toml" -o "$3/unit.cpp" && grep -q "target generic, -O3 --math strict" "$3/unit.cpp"' - "$onnxc" "$model" "$work"
check "the command line wins" bash -c '"$1" "$2" --config "$3/onnxc.toml" --math=default -o "$3/unit.cpp" && ! grep -q "math strict" "$3/unit.cpp"' - "$onnxc" "$model" "$work"
printf 'tarjet = "generic"\n' >"$work/wrong.toml"
check "a name in a file that is none" says tarjet "$onnxc" "$model" --config "$work/wrong.toml" -o "$work/unit.cpp"
check "a file that is not there" says nothing.toml "$onnxc" "$model" --config "$work/nothing.toml" -o "$work/unit.cpp"

# Errors.
mkdir "$work/a folder"
printf 'not a model' >"$work/a folder/broken.onnx"
for form in json sarif; do
  status=0
  "$onnxc" "$work/a folder/broken.onnx" --diagnostics "$form" -o "$work/unit.cpp" 2>"$work/$form" || status=$?
  check "$form: the exit status" [ "$status" = 1 ]
done
check "json" "$ONNXC_PYTHON" -c 'import json, sys; [error] = json.load(open(sys.argv[1]))["errors"]; assert error["code"] == "E0102" and error["kind"] == "invalid" and error["exit_code"] == 1 and error["file"].endswith("a folder/broken.onnx") and error["found"], error' "$work/json"
check "a dimension that the model has not" bash -c '"$1" "$2" --target=generic --dim nowhere=3 -o "$3/unit.cpp" 2>&1 | grep -q "note: --dim nowhere changes nothing"' - "$onnxc" "$model" "$work"
check "a dimension that it has" bash -c '! "$1" samples/dynamic_mlp/dynamic_mlp.onnx --target=generic --dim batch=3 -o "$2/unit.cpp" 2>&1 | grep note' - "$onnxc" "$work"
check "sarif" "$ONNXC_PYTHON" -c '
import json, sys
log = json.load(open(sys.argv[1]))
[run] = log["runs"]
[result] = run["results"]
assert log["version"] == "2.1.0" and run["tool"]["driver"]["rules"][0]["id"] == result["ruleId"] == "E0102" and result["message"]["text"], log
assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].endswith("a%20folder/broken.onnx"), log' "$work/sarif"
on_terminal() { script -qec "$1" /dev/null; }
if command -v script >/dev/null; then
  check "colours on a terminal" bash -c "$(declare -f on_terminal); on_terminal '$onnxc $work/nothing.onnx' | grep -q $'\033'"
  check "NO_COLOR" bash -c "$(declare -f on_terminal); ! NO_COLOR=1 on_terminal '$onnxc $work/nothing.onnx' | grep -q $'\033'"
  # Work of more than two seconds is told of, on a terminal alone.
  printf '#!/bin/sh\ncase "$*" in *--version*) exec c++ "$@" ;; esac\nsleep 5\nexit 1\n' >"$work/slow"
  chmod +x "$work/slow"
  slow="ONNXC_CXX=$work/slow ONNXC_CACHE=$work/cache $onnxc run $model"
  check "progress on a terminal" bash -c "$(declare -f on_terminal); on_terminal '$slow' | grep -q 'onnxc: the C++ compiler, [0-9]* s'"
  check "no progress elsewhere" bash -c "! env $slow 2>&1 | grep -q 'the C++ compiler, '"
else echo "(no script)"; fi
echo "around the command: $passed passed, $failed failed"
[ $failed = 0 ]
