// What is allowed beside the rules: functions that a unit may call although they have no body, and findings with a reason.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tools/check_emitted/rules.h"

namespace onnxc::check_emitted {

class Allowed {
 public:
  /// The text of allowed.txt, or of a file in its form. Throws std::invalid_argument with the line that is wrong.
  explicit Allowed(std::string_view text);
  void add(const Allowed& more);

  /// A function of C without a body. Those of the mathematical library are listed once for all types of floats.
  bool leaf(std::string_view name) const;
  /// Something that a function does. `function`: its name with namespaces.
  bool finding(Rule rule, std::string_view function) const;

 private:
  struct Exception {
    std::string rule, function;
  };
  std::set<std::string, std::less<>> leaves_, stems_;
  std::vector<Exception> exceptions_;
};

}  // namespace onnxc::check_emitted
