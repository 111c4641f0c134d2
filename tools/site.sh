#!/usr/bin/env bash
# Makes the site of docs/ in build-site/: tools/site.sh [OPTION OF mkdocs build...]. To look at it while writing: tools/site.sh --serve
#
# Needs what `tools/setup.sh --docs-deps` installs, and a built onnxc (ONNXC: its path, by default build/onnxc), whose --help is a page.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/env.sh
[ -e "$ONNXC_DOCS_VENV/.complete" ] || { echo "no MkDocs: tools/setup.sh --docs-deps"; exit 77; }
export NO_MKDOCS_2_WARNING=true DISABLE_MKDOCS_2_WARNING=true
if [ "${1:-}" = --serve ]; then exec "$ONNXC_DOCS_VENV/bin/mkdocs" serve "${@:2}"; fi
exec "$ONNXC_DOCS_VENV/bin/mkdocs" build --strict --clean "$@"
