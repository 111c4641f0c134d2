#include "compiler/support/error.h"

#include <fmt/format.h>

#include <string_view>

namespace onnxc {
namespace {

std::string join(const std::vector<Diagnostic>& diagnostics) {
  std::string all;
  for (const Diagnostic& d : diagnostics) all += (all.empty() ? "" : "\n") + d.text();
  return all;
}

}  // namespace

std::string one_line(const std::string& text) {
  std::string line;
  for (char c : text) {
    if (line.size() > 400) return line + "...";
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      line += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      line += fmt::format("\\x{:02x}", byte);
    } else {
      line += c;
    }
  }
  return line;
}

std::string Diagnostic::text() const {
  std::string line = one_line(op);
  if (!node.empty()) line += fmt::format("{}'{}'", line.empty() ? "" : " ", one_line(node));
  if (!line.empty()) line += ": ";
  line += one_line(found);
  if (!remedy.empty()) line += "; " + one_line(remedy);
  return line;
}

Error::Error(ErrorKind kind, std::vector<Diagnostic> diagnostics)
    : std::runtime_error(join(diagnostics)), kind_(kind), diagnostics_(std::move(diagnostics)) {}

Error::Error(ErrorKind kind, std::string found, std::string remedy)
    : Error(kind, std::vector<Diagnostic>{{"", "", std::move(found), std::move(remedy)}}) {}

int Error::exit_code() const {
  switch (kind_) {
    case ErrorKind::Invalid:
    case ErrorKind::Unsupported: return 1;
    case ErrorKind::Usage: return 2;
    case ErrorKind::Io: return 3;
    case ErrorKind::Budget: return 4;
    case ErrorKind::Internal: return 70;
  }
  return 70;
}

void internal_error(const char* condition, const char* what, const char* file, int line) {
  std::string_view path = file;
  if (auto slash = path.rfind("compiler/"); slash != path.npos) path.remove_prefix(slash);
  throw Error(ErrorKind::Internal, fmt::format("{} ({} does not hold, {}:{})", what, condition, path, line),
              "this is a bug in onnxc; please report it with the model");
}

}  // namespace onnxc
