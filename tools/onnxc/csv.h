// Comma-separated values, by RFC 4180.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace onnxc {

/// Numbers and texts as one line; null is an empty cell.
inline std::string csv_line(const std::vector<nlohmann::ordered_json>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += ',';
    if (cells[i].is_null()) continue;
    if (!cells[i].is_string()) {
      line += cells[i].dump();
      continue;
    }
    line += '"';
    for (const char c : cells[i].get_ref<const std::string&>()) line += c == '"' ? std::string("\"\"") : std::string(1, c);
    line += '"';
  }
  return line + "\r\n";
}

}  // namespace onnxc
