#!/usr/bin/env bash
# The packages in a bare Debian 12, with nothing else of onnxc on it: the wheel where only Python and g++ are, then the Debian package with what apt brings along.
#
#   tests/bare/packages.sh [BUILD_FOLDER [WHEEL]]      without a file, `pip wheel` makes the wheel in build-wheel
#
# Needs root and debootstrap, 2 GB of disk and some minutes. The folder goes at the end.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/env.sh
. tests/bare/system.sh
build="$(cd "${1:-build}" && pwd)" wheel="${2:-}"
processor_seconds() { awk '{print int(($16 + $17) / 100)}' "/proc/$$/stat"; }  # of what this script ran, however busy the machine is
fail() { echo "FAILED: $*"; exit 1; }
bare_system
inside 'apt-get -qq update' >"$root/log" 2>&1 || { cat "$root/log"; skip "apt finds no packages"; }
packages() { timed "apt-get -qq -y -o Dpkg::Use-Pty=0 install --no-install-recommends $*"; }

# ---- the wheel
packages g++ python3 python3-pip python3-venv
mkdir -p "$root"/root/{wheel,unit}
if [ -n "$wheel" ]; then cp "$wheel" "$root/root/wheel"; else tests/wheel/build.sh "$root/root/wheel"; fi
cp -r --parents samples python/tests tests/downstream "$root/root"
cat >"$root/root/user.py" <<'END'
import numpy as np
import onnxc

session = onnxc.InferenceSession("samples/digits/digits.onnx")
given = session.get_inputs()[0]
scores, = session.run(None, {given.name: np.zeros(given.shape, np.float32)})
assert scores.shape == tuple(session.get_outputs()[0].shape) and np.isfinite(scores).all(), scores
END
start="$(processor_seconds)"
timed 'python3 -m venv env && env/bin/pip install --quiet wheel/onnxc-*.whl'
timed 'env/bin/python user.py'
timed 'env/bin/onnxc samples/digits/digits.onnx -o unit/digits.cpp --standalone && g++ -std=c++20 -O3 -march=native -c unit/digits.cpp -o digits.o'
took=$(($(processor_seconds) - start))
echo "from the wheel to results: $took s of a processor"
[ $took -le 60 ] || fail "that is more than a minute"

# ---- the Debian package
cmake --build "$build" --target onnxc command_pages >/dev/null
(cd "$build" && cpack --config CPackConfig.cmake -B "$root/root/deb" >"$root/log" 2>&1) || { cat "$root/log"; fail "cpack"; }
packages cmake make pkg-config man-db
listing() { find "$root"/{etc,opt,srv,usr,var} -not -path '*/var/cache/*' -not -path '*/var/log/*' -not -path '*/var/lib/apt/*' -not -path '*/var/lib/dpkg/*' | sort; }
listing >"$root/before"
packages ./deb/onnxc_*.deb
tests/downstream/inputs.sh "$root/root/built/models"
timed 'cmake -S tests/downstream -B built -DSAMPLES=/root/samples && cmake --build built && built/one && built/several'
timed 'onnxc samples/digits/digits.onnx -o unit/digits.cpp && g++ -std=c++20 $(pkg-config --cflags onnxc) -march=native -c unit/digits.cpp -o digits.o'
timed 'man onnxc | grep -q -- --standalone'
timed 'apt-get -qq -y -o Dpkg::Use-Pty=0 purge onnxc && apt-get -qq -y -o Dpkg::Use-Pty=0 autoremove --purge'
listing | diff "$root/before" - || fail "the removal of the Debian package leaves files"

# ---- the wheel once more, with the tests of the Python package
timed 'env/bin/pip install --quiet onnx onnxruntime && PYTHONPATH=python/tests env/bin/python -m unittest discover -s python/tests'
echo "the packages work on a bare Debian"
