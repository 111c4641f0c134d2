// onnxc profile for another machine: instructions and cycles of each step, counted in an emulator.
#pragma once
#include "tools/onnxc/profile.h"

namespace onnxc {

/// Prints the steps, the largest first, and writes what the options ask for but traces. Throws Error; see count_steps.
int emulated_profile_command(const ProfileOptions& options);

}  // namespace onnxc
