// The command line and the handling of exceptions, for the tools of this folder.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace onnxc {

using Numbers = std::map<std::string, int64_t>;

/// Calls run(numbers, files) with the files of the command line and the numbers given with its options. `numbers`:
/// all options with their defaults. An exception prints a line and gives exit status 2.
template <class Run>
int tool_main(const char* tool, int argc, char** argv, Numbers numbers, Run run) {
  try {
    std::vector<std::string> files;
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (!arguments[i].starts_with("--")) {
        files.push_back(arguments[i]);
        continue;
      }
      if (!numbers.contains(arguments[i]) || i + 1 == arguments.size())
        throw std::runtime_error(arguments[i] + " is no option, or its number is missing");
      int64_t& number = numbers.at(arguments[i]);
      number = std::stoll(arguments[++i]);
    }
    return run(numbers, files);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}: {}\n", tool, e.what());
    return 2;
  }
}

}  // namespace onnxc
