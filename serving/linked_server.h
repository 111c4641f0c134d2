// Models that a program is linked with: `onnxc_add_server` in CMake writes the table.
#pragma once
#include <onnxc/model.h>

#include <span>

namespace onnxc::serving {

struct LinkedModel {
  const char* name;
  const char* version;
  const onnxc_model* (*model)();
  int threads;  ///< that the unit was compiled for
};

/// Defined by the program.
std::span<const LinkedModel> linked_models();

}  // namespace onnxc::serving
