// Steps as C++ statements.
#pragma once
#include <span>
#include <string>

#include "codegen/cpp_text.h"
#include "codegen/profile.h"

namespace onnxc {

struct StepsText {
  const Program& program;
  const SymbolNames& symbols;
  std::vector<std::string> buffer_names;  ///< the C++ expression of each buffer: a pointer to its element type, const where it is read only
  bool threads = false;
  const Profile* profile = nullptr;                  ///< what steps are measured with, or nothing
  std::map<BufferId, std::string> shape_pointers{};  ///< where outputs whose shape depends on data tell it

  /// All steps, one call each with a comment, indented by two.
  std::string print() const;

 private:
  void print_steps(const std::vector<Step>& steps, int indent, int& number, std::string& out) const;
  std::span<const Step> concurrent_with(const std::vector<Step>& steps, std::size_t first) const;
  // `forked`: inside of a fork, where `part` is this thread's; `shared`: the step is divided among its parts.
  std::string statement(const Step& step, bool shared, bool forked) const;
  // The threads that share a step by itself: `threads`, under a condition where the sizes of a run may be too small for a fork.
  std::string threads_of(const Step& step) const;
  std::string share(std::span<const Step> group, const std::string& space) const;
  std::string bookkeeping(const Step& step) const;
  std::string pointer(const PointerArg& p, bool forked = false) const;
  std::string form_members(const FormArg& form, bool forked) const;
  std::string argument(const Arg& arg, bool forked) const;
  std::string call(const Step& step, bool shared, bool forked) const;
};

}  // namespace onnxc
