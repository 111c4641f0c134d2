#!/usr/bin/env bash
# The README's two commands as on a newcomer's machine: a bare Debian 12 in a folder, with this working tree and nothing else of this machine but where its
# packages come from.
#
#   tests/bare/run.sh              ./demo.sh and ./test.sh
#   tests/bare/run.sh COMMAND...   these commands of bash in the tree instead: tests/bare/run.sh ./demo.sh
#
# Needs root and debootstrap, 8 GB of disk and the better part of an hour. The folder goes at the end.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/bare/system.sh
bare_system

tree="$root/root/onnxc"
mkdir -p "$tree"
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then git ls-files -z --cached --others --exclude-standard; else find . -type f -not -path './build*' -print0; fi |
  tar --null --files-from=- --ignore-failed-read -cf - | tar -xf - -C "$tree"
commands=("$@")
[ $# -gt 0 ] || commands=(./demo.sh ./test.sh)
for command in "${commands[@]}"; do timed "cd onnxc && $command"; done
