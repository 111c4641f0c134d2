// Checks of numbers among the options.
#pragma once
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <string>

namespace onnxc {

/// That a number is not below `least`. CLI's own checks state a range up to the largest double, digit by digit.
inline CLI::Validator at_least(int least) {
  const auto fault = [least](std::string& given) {
    double number = 0;
    return CLI::detail::lexical_cast(given, number) && number >= least ? ""
                                                                       : fmt::format("it is {}, and has to be at least {}", given, least);
  };
  return {fault, fmt::format("AT LEAST {}", least)};
}

/// That a number is above 0.
inline CLI::Validator above_zero() {
  const auto fault = [](std::string& given) {
    double number = 0;
    return CLI::detail::lexical_cast(given, number) && number > 0 ? "" : fmt::format("it is {}, and has to be above 0", given);
  };
  return {fault, "ABOVE 0"};
}

}  // namespace onnxc
