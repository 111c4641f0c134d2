#!/usr/bin/env bash
# Plants faults in copies of the kernels for GPUs, one at a time (faults.py has the list), and asks whether their tests in the emulator see
# them: each must make a test fail, or end the program.
#
#   tests/gpu/faults.sh [--few] [--main OBJECT] [TEST...]      faults that tests/kernels/gpu/TEST.cpp sees, all where none is given
#
# --few plants those alone that are quick to see. What the tests are compiled with is $CXX, g++ where that is not set.
set -euo pipefail
cd "$(dirname "$0")/../.."
exec python3 tests/gpu/faults.py "$@"
