// Steps as statements of a unit's function: what runs on the host, with calls of kernels as a dialect writes them.
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
  const PerBuffer<std::string>& buffer_names;  ///< as in CppDialect
  bool threads = false;
  const Profile* profile = nullptr;                  ///< what measures the steps, or null
  std::map<BufferId, std::string> shape_pointers{};  ///< where outputs whose shape depends on data store it

  /// All steps, each as one call with a comment, indented by two.
  std::string print() const;

 private:
  void print_steps(const std::vector<Step>& steps, int indent, int& number, std::string& out) const;
  void print_loop(const Loop& loop, int indent, int& number, std::string& out) const;
  // Prints a call and those that follow it without waiting. Returns the number of these steps.
  std::size_t print_calls(std::span<const Step> steps, const std::string& space, int& number, std::string& out) const;
  std::span<const Step> concurrent_with(std::span<const Step> steps) const;
  // `forked`, `shared`: as in Dialect.
  std::string statement(const Call& call, bool shared, bool forked) const;
  // The threads that share a single step: `threads`, under a condition if the sizes of a run may be too small for a
  // fork.
  std::string threads_of(const Call& call) const;
  std::string share(std::span<const Step> group, const std::string& space) const;
  // The text of steps that are no calls; empty for others.
  std::string bookkeeping(const Step& step) const;
};

}  // namespace onnxc
