// What a unit for a GPU has beside `steps`: its interface on the device, the image of its constants, and runs on host memory.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "codegen/interface.h"
#include "codegen/weights.h"
#include "compiler/onnxc.h"

namespace onnxc {

/// The constants that a GPU reads, one after the other, each at a multiple of 256 bytes.
struct DeviceWeights {
  static constexpr const char* kName = "device_weights";
  std::map<std::string, std::size_t> offsets;  ///< by name
  std::shared_ptr<std::vector<std::byte>> image = std::make_shared<std::vector<std::byte>>();

  void add(const Weights& weights);
};

/// For the header: DeviceInputs, DeviceOutputs, enqueue and what it needs, as far as Inputs and Outputs do not say it.
std::string device_declarations(const Interface& interface, const Program& program, std::size_t weights_bytes);
/// For the source: weights_image, and enqueue around `body`, which returns a Status.
std::string device_definitions(const Interface& interface, const std::string& image, std::size_t weights_bytes, const std::string& body);
/// The end of `run`, whose arguments have been checked: a run in memory of the device that it takes and gives back.
std::string run_once(const Interface& interface, bool uses_heap);

}  // namespace onnxc
