#include "compiler/support/error.h"

#include <fmt/format.h>

#include <string_view>

#include "compiler/support/error_codes.h"

namespace onnxc {
namespace {

std::string join(const std::vector<Diagnostic>& diagnostics) {
  std::string all;
  for (const Diagnostic& d : diagnostics) all += (all.empty() ? "" : "\n") + d.text();
  return all;
}

ErrorCode general_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::Invalid: return ErrorCode::Invalid;
    case ErrorKind::Unsupported: return ErrorCode::Unsupported;
    case ErrorKind::Usage: return ErrorCode::Usage;
    case ErrorKind::Io: return ErrorCode::Io;
    case ErrorKind::Budget: return ErrorCode::Budget;
    case ErrorKind::Internal: break;
  }
  return ErrorCode::Internal;
}

ErrorKind kind_of(ErrorCode code) {
  switch (code) {
#define ERROR_CODE(number, name, kind) \
  case ErrorCode::name: return ErrorKind::kind;
#include "compiler/support/error_codes.inc"
#undef ERROR_CODE
  }
  return ErrorKind::Internal;
}

std::vector<Diagnostic> with_code(std::vector<Diagnostic> diagnostics, ErrorCode code) {
  for (Diagnostic& d : diagnostics) {
    if (d.code == ErrorCode{}) d.code = code;
  }
  return diagnostics;
}

}  // namespace

std::string text(ErrorCode code) { return fmt::format("E{:04}", static_cast<int>(code)); }

ErrorClass::ErrorClass(ErrorKind kind) : kind(kind), code(general_code(kind)) {}
ErrorClass::ErrorClass(ErrorCode code) : kind(kind_of(code)), code(code) {}

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

Error::Error(ErrorClass what, std::vector<Diagnostic> diagnostics)
    : std::runtime_error(join(diagnostics)), kind_(what.kind), diagnostics_(with_code(std::move(diagnostics), what.code)) {}

Error::Error(ErrorClass what, std::string found, std::string remedy)
    : Error(what, std::vector<Diagnostic>{{"", "", std::move(found), std::move(remedy)}}) {}

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
