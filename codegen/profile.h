// What --profile adds to a unit: counters for each step that calls a kernel, and the functions that return them.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "compiler/ir/program.h"

namespace onnxc {

class Profile {
 public:
  /// `threads`: the number that the unit may be run with.
  explicit Profile(int threads) : threads_(threads) {}

  /// Counts the calls of kernels in `program`, which must not move. `variant`: the namespace of its code, empty for
  /// the general program.
  void add(const Program& program, const std::string& variant);

  /// A call of the step's kernel as a statement with measurement. `call`: the expression; `lambda`: the attributes of
  /// the lambda that contains it; `threads`: the threads that share the step, empty if it runs on one.
  std::string statement(const Step& step, const std::string& call, const std::string& threads, const std::string& lambda) const;

  /// The same for a step on a GPU, whose statement `call` is.
  std::string on_gpu(const Step& step, const std::string& call) const;
  /// Declares what measures the steps of a run on a GPU.
  std::string step_times() const;

  /// The counters, for the inside of the unit's anonymous namespace.
  std::string counters() const;
  /// The C functions, for the end of the unit. `name_space`: of the unit.
  std::string abi_text(const std::string& name_space) const;

  /// The names that `counters` and the statements use.
  static constexpr const char* kNames[] = {"counters", "share_counters"};

 private:
  struct Counted {
    const Step* step;
    int number;  ///< as in the comments of the unit
    int shares;  ///< its row of share_counters, or -1
    std::string variant;
  };
  int threads_;
  int shared_ = 0;
  std::vector<Counted> steps_;
  std::map<const Step*, std::size_t> index_;
};

}  // namespace onnxc
