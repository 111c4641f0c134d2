// The worker's answer to {"do": "run"}: see worker.h. It does not compile, so that it can be built for the machine
// that the units are for.
#pragma once
#include <nlohmann/json.hpp>

namespace onnxc {

/// Calls a unit of a library with the data of a case, and compares the outputs.
nlohmann::json run_case(const nlohmann::json& request);

}  // namespace onnxc
