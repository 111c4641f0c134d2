// Errors. A Diagnostic names the node, the operator, what was found and what would help; an Error carries several of
// them.
#pragma once
#include <stdexcept>
#include <string>
#include <vector>

namespace onnxc {

/// The exit codes of the command line follow from the kind.
enum class ErrorKind {
  Invalid,      ///< not valid ONNX: exit 1
  Unsupported,  ///< valid ONNX that onnxc cannot compile yet: exit 1
  Usage,        ///< exit 2
  Io,           ///< exit 3
  Budget,       ///< over a resource limit: exit 4
  Internal      ///< our bug: exit 70
};

/// What can be done about it: error_codes.h has the names, and docs/refusals/ a page for each.
enum class ErrorCode : int;

/// `E0204`.
std::string text(ErrorCode code);

/// What an error is: its code, of which the kind follows, or the kind alone, which has a code for all that has none of its own.
struct ErrorClass {
  ErrorKind kind;
  ErrorCode code;

  ErrorClass(ErrorKind kind);
  ErrorClass(ErrorCode code);
};

struct Diagnostic {
  std::string node;      ///< name of the node, or empty
  std::string op;        ///< operator type, with its domain where it is not ai.onnx, or empty
  std::string found;     ///< what was found
  std::string remedy{};  ///< what would help, or empty
  ErrorCode code{};      ///< if it is left out, that of the error

  /// `Conv 'stem/conv1': auto_pad=SAME_UPPER with dynamic height; fix the height with --dim height=224`
  std::string text() const;
};

/// `text` as one line for a terminal, whatever the names in an unknown model contain: control characters are escaped,
/// and it is cut at some 400 bytes.
std::string one_line(const std::string& text);

class Error : public std::runtime_error {
 public:
  Error(ErrorClass what, std::vector<Diagnostic> diagnostics);
  Error(ErrorClass what, std::string found, std::string remedy = {});

  ErrorKind kind() const { return kind_; }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  int exit_code() const;

 private:
  ErrorKind kind_;
  std::vector<Diagnostic> diagnostics_;
};

/// An assumption of a rule about a tensor (its rank, or the number or type of its elements) does not hold. When a
/// node is inferred this is the model's mistake (passes/propagate.cpp turns it into the node's error). Anywhere else
/// it is our bug.
class Misread : public Error {
 public:
  explicit Misread(std::string found)
      : Error(ErrorKind::Internal, std::move(found), "this is a bug in onnxc; please report it with the model") {}
};

[[noreturn]] void internal_error(const char* condition, const char* what, const char* file, int line);

}  // namespace onnxc

/// States an invariant. Mistakes of users never violate it.
#define ONNXC_CHECK(condition, what) ((condition) ? static_cast<void>(0) : ::onnxc::internal_error(#condition, what, __FILE__, __LINE__))
