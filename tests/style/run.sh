#!/usr/bin/env bash
# Layout of C++ as clang-format has it; see .clang-format.
#
#   tests/style/run.sh          says which files differ from it, and where
#   tests/style/run.sh --fix    lays them out
set -uo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
format="$ONNXC_TEST_VENV/bin/clang-format"
[ -x "$format" ] || { echo "no clang-format: tools/setup.sh --test-deps"; exit 77; }
mapfile -t files < <(git ls-files '*.cpp' '*.h' '*.hpp' 2>/dev/null)
[ ${#files[@]} -gt 0 ] || mapfile -t files < <(find . -path ./build\* -prune -o \( -name '*.cpp' -o -name '*.h' -o -name '*.hpp' \) -print)
case "${1:-}" in
  --fix) "$format" -i "${files[@]}" ;;
  "") "$format" --dry-run --Werror "${files[@]}" 2>&1 | grep 'error:' | head -20
      [ "${PIPESTATUS[0]}" = 0 ] || { echo "tests/style/run.sh --fix lays it out"; exit 1; }
      echo "${#files[@]} files are laid out as .clang-format says" ;;
  *) echo "run.sh: unknown option $1" >&2; exit 2 ;;
esac
