// Lines of JSON on standard error, one for each event.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace onnxc::serving {

enum class LogLevel { None, Errors, Events, Requests };

/// Of this process. Set it before threads start.
inline LogLevel& log_level() {
  static LogLevel level = LogLevel::Events;
  return level;
}

/// Writes the line where the level asks for it. Values are JSON already: see json_string().
void log(LogLevel level, std::string_view event, std::initializer_list<std::pair<std::string_view, std::string>> members = {});

}  // namespace onnxc::serving
