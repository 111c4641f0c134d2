// Colours for terminals.
#pragma once
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace onnxc {

enum class Style { Plain, Bold, Faint, Red, Yellow };

/// `text` for standard output: in that style on a terminal, unchanged elsewhere and if NO_COLOR is set.
inline std::string styled(Style style, const std::string& text) {
  static const bool colours = isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  if (!colours || style == Style::Plain) return text;
  const char* const code = style == Style::Bold ? "1" : style == Style::Faint ? "2" : style == Style::Red ? "31" : "33";
  return std::string("\033[") + code + "m" + text + "\033[0m";
}

}  // namespace onnxc
