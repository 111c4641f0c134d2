// The part of `conformance` that runs units, alone: built for the machine that they are for, and started there or in an emulator.
#include "tools/conformance/run_case.h"
#include "tools/conformance/worker.h"

int main() { return onnxc::serve_worker(onnxc::run_case); }
