#include "tools/onnxc/refusals.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compiler/support/error_codes.h"

namespace onnxc {
namespace {

constexpr std::array kCodes{
#define ERROR_CODE(number, name, kind) ErrorCode::name,
#include "compiler/support/error_codes.inc"
#undef ERROR_CODE
};

std::string_view page_of(ErrorCode code) { return refusal_page(text(code) + ".md"); }

}  // namespace

std::string refusal_title(std::string_view page) {
  const std::size_t begin = page.find(": ") + 2;
  return std::string(page.substr(begin, page.find('\n') - begin));
}

bool looks_like_code(const std::string& text) {
  return text.size() == 5 && text[0] == 'E' && std::all_of(text.begin() + 1, text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

int explain_code(const std::string& code) {
  const auto found = std::ranges::find_if(kCodes, [&](ErrorCode known) { return text(known) == code; });
  if (found == kCodes.end()) throw Error(ErrorCode::CommandLine, fmt::format("there is no error {}", code), "onnxc explain lists all");
  fmt::print("{}", page_of(*found));
  return 0;
}

int list_codes() {
  for (const ErrorCode code : kCodes) fmt::print("{}  {}\n", text(code), refusal_title(page_of(code)));
  return 0;
}

}  // namespace onnxc
