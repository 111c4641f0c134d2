// The worker's answer to {"do": "compile"}: see worker.h.
#pragma once
#include <nlohmann/json.hpp>

namespace onnxc {

/// Compiles one model and writes its unit's files.
nlohmann::json compile_case(const nlohmann::json& request);

}  // namespace onnxc
