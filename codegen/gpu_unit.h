// What a unit for a GPU has beside `steps`: its interface on the device, the image of its constants, and its session.
#pragma once
#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "codegen/interface.h"
#include "codegen/variants.h"
#include "codegen/weights.h"
#include "compiler/onnxc.h"

namespace onnxc {

/// Whether an input or output lies on the GPU. Strings, for example, stay on the host.
bool is_on_device(const Member& member);

/// The constants that a GPU reads, one after the other, each with contract::device_room bytes.
struct DeviceWeights {
  static constexpr const char* kName = "device_weights";
  std::map<std::string, std::size_t> offsets;  ///< by name
  std::shared_ptr<std::vector<std::byte>> image = std::make_shared<std::vector<std::byte>>();

  void add(const Weights& weights);
};

/// Whether a run only enqueues work, so that a graph can be made of it: no step is the host's, waits for the GPU, or reads
/// what the caller keeps on the host.
bool can_capture(const Program& program, const std::vector<Variant>& variants);
/// Words of DeviceMemory: the status, and as many tickets as any step draws.
int64_t device_words(const Program& program, const std::vector<Variant>& variants);

/// What its texts are made of.
struct GpuUnit {
  const Interface& interface;
  const Program& program;
  std::size_t weights_bytes;  ///< of the image
  int64_t words;              ///< of DeviceMemory
  bool can_capture;

  /// For the header: DeviceInputs, DeviceOutputs, enqueue, Session and what they need, as far as Inputs and Outputs do not say it.
  std::string declarations() const;
  /// For the source: weights_image, and enqueue around `body`, which returns a Status. `image`: an expression, if there are weights.
  /// `missing`: a condition that holds while weights are not there, or empty.
  std::string definitions(const std::string& image, const std::string& body, const std::string& missing) const;
  /// Session, and `run`, which is a session for one run. `checks`: statements that return a Status for sizes that are wrong.
  std::string session(const std::string& checks, const std::string& missing) const;

 private:
  /// `name`: of the parameter for the caller's allocator, where the program needs one.
  std::string heap_parameter(const char* name) const { return program.uses_heap ? fmt::format(", const onnxc_allocator& {}", name) : ""; }
  const char* dims_parameter() const { return interface.dynamic() ? "const Dims& dims, " : ""; }
  std::string sizes() const;
  std::string pointers(const std::vector<Member>& list, const char* of, bool output) const;
};

}  // namespace onnxc
