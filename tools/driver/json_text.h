// JSON as the text of a file.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace onnxc {

/// A line for each element. Names from models may hold any bytes: those that are no UTF-8 are replaced.
template <class Json>
std::string json_text(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace onnxc
