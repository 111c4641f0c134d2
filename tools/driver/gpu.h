// Where units for GPUs run: on a GPU of this machine, compiled by nvcc, or in the emulator, compiled by the system's compiler.
#pragma once
#include <optional>
#include <string>

#include "codegen/compile.h"

namespace onnxc {

/// Whether CUDA's driver finds a GPU here.
bool has_gpu();

/// $NVCC, or the nvcc on PATH or in /usr/local/cuda/bin; empty if there is none.
std::string find_nvcc();

/// What nvcc gets with -arch= for a unit of that target; empty where the unit runs on the processor: units for processors, and
/// those for GPUs in the emulator. Where `where` leaves it open, that is told on standard error, once. Throws Error{Usage} if what
/// was asked for is not there. `here`: the unit runs on this machine; else nvcc is enough for one that is asked to run on a GPU.
std::string nvcc_architecture(const std::string& target, RunsIn where, bool here);

}  // namespace onnxc
