// The part of `conformance` that runs units, as a program of its own. It is built for the target machine, and started
// there or in an emulator.
#include "tools/conformance/run_case.h"
#include "tools/conformance/worker.h"

int main() { return onnxc::serve_worker(onnxc::run_case); }
