#include "tools/conformance/blame.h"

#include <regex>
#include <sstream>

namespace onnxc {

std::map<std::string, std::string> blame(const std::string& log) {
  static const std::regex unit("(case_[0-9]{4,})\\.(cpp|cu|h):[0-9]+");
  static const std::regex error("(^|[ :])(fatal )?error: .*");
  std::map<std::string, std::string> errors;
  std::string last_unit, including_unit, unclaimed;
  std::istringstream lines(log);
  bool in_includes = false;
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    const bool includes = line.find("n file included from") != std::string::npos || line.starts_with("                 from ");
    if (includes && !in_includes) including_unit.clear();
    in_includes = includes;
    if (std::regex_search(line, match, unit)) {
      (includes ? including_unit : last_unit) = match[1];
      if (!includes && !unclaimed.empty()) {
        errors.try_emplace(last_unit, unclaimed);
        unclaimed.clear();
      }
    }
    if (!std::regex_search(line, match, error)) continue;
    const std::string text = match.str().substr(match.str().find("error: "));
    if (!including_unit.empty() && !missing_of_system(text).empty()) {
      errors.try_emplace(including_unit, text);
    } else if (line.find(last_unit) != std::string::npos || line.find("case_") == std::string::npos) {
      if (last_unit.empty()) {
        unclaimed = text;
      } else {
        errors.try_emplace(last_unit, text);
      }
    }
  }
  return errors;
}

std::string missing_of_system(const std::string& error) {
  static const std::regex patterns[] = {
      std::regex("error: ([^ :]+): No such file or directory"),  // g++
      std::regex("error: '([^']+)' file not found"),             // clang
      std::regex("cannot find -l([^: \n]+)"),                    // the linker
      std::regex("unable to find library -l([^: \n]+)"),         // lld
  };
  for (const std::regex& pattern : patterns) {
    if (std::smatch match; std::regex_search(error, match, pattern)) return match[1];
  }
  return "";
}

}  // namespace onnxc
