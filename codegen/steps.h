// Steps as statements of a unit's function: what runs on the host, with calls of kernels as a dialect spells them.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "codegen/cpp_text.h"
#include "codegen/dialect.h"
#include "codegen/profile.h"

namespace onnxc {

struct StepsText {
  const Program& program;
  const Dialect& dialect;
  const SymbolNames& symbols;
  const std::vector<std::string>& buffer_names;  ///< as CppDialect's
  bool threads = false;
  const Profile* profile = nullptr;                  ///< what steps are measured with, or nothing
  std::map<BufferId, std::string> shape_pointers{};  ///< where outputs whose shape depends on data tell it

  /// All steps, one call each with a comment, indented by two.
  std::string print() const;

 private:
  void print_steps(const std::vector<Step>& steps, int indent, int& number, std::string& out) const;
  void print_loop(const Loop& loop, int indent, int& number, std::string& out) const;
  // A call with those that follow it without a wait; gives how many steps that were.
  std::size_t print_calls(std::span<const Step> steps, const std::string& space, int& number, std::string& out) const;
  std::span<const Step> concurrent_with(std::span<const Step> steps) const;
  // `forked`, `shared`: as Dialect's.
  std::string statement(const Call& call, bool shared, bool forked) const;
  // The threads that share a step by itself: `threads`, under a condition where the sizes of a run may be too small for a fork.
  std::string threads_of(const Call& call) const;
  std::string share(std::span<const Step> group, const std::string& space) const;
  // Of steps that say for themselves what they do; empty for others.
  std::string bookkeeping(const Step& step) const;
};

}  // namespace onnxc
