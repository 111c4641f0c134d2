// Step: one thing that a run does. Most call a kernel; the others control which steps run, and look after variables and memory.
//
// If and Loop hold blocks of steps. Steps are numbered in pre-order through all blocks.
//
// A step may bind symbols: extents that depend on data. They are variables from there on.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/ir/arguments.h"
#include "compiler/ir/requirement.h"

namespace onnxc {

struct Step;

/// Calls a kernel of the catalogue; `args` in the order of its signature.
struct Call {
  std::string kernel;    ///< name of its row
  std::string header;    ///< onnxc/HEADER
  std::string function;  ///< in namespace onnxc; from `::` on, whatever namespace that names
  std::vector<TemplateArg> template_args{};
  std::vector<Arg> args{};
  DimList binds{};           ///< symbols that it stores extents in
  bool parallel = false;     ///< takes onnxc::Part as its first argument
  bool fallible = false;     ///< gives a Status
  bool specialised = false;  ///< compiled for its own extents, not once for all calls of the kernel
  bool concurrent = false;   ///< threads go on to it from the step before without a wait; see lowering/threads/concurrent_steps.h
  /// Pairs (written, read) that may be the same memory when the read buffer dies here: each element is read before it is written.
  std::vector<std::pair<BufferId, BufferId>> may_share{};
  Dim macs = 0;        ///< multiply-adds
  Dim bytes = 0;       ///< read and written
  double cost_ns = 0;  ///< predicted, on one thread; 0 where that takes sizes that are not known
};
struct If {
  PointerArg condition;  ///< a bool
  std::vector<Step> then_steps{}, else_steps{};
};
struct Loop {
  Dim iteration;           ///< symbol: its number; a variable of the body
  Dim most;                ///< so many iterations
  bool limited = false;    ///< the run ends with an error beyond `most`
  PointerArg condition{};  ///< a bool that is read before each iteration, or no buffer
  std::vector<Step> body{};
};
/// Variables, with their first values.
struct Declare {
  DimList symbols, values;
};
/// The pointer of a Heap buffer, or an Object.
struct DeclareBuffer {
  BufferId buffer;
};
struct Assign {
  DimList symbols, values;
};
/// Symbols become the elements of an integer tensor; they are variables from here on.
struct Bind {
  DimList symbols;
  PointerArg elements;
};
/// Ends the run where it does not hold.
struct Require {
  Requirement requirement;
};
/// Room in a Heap buffer.
struct Allocate {
  BufferId buffer;
  Dim elements;
};
/// A Heap buffer or an Object becomes what `from` points to; a heap block that it owned is given back.
struct MoveBuffer {
  BufferId buffer;
  PointerArg from;
};
/// Gives a Heap buffer's block back.
struct Release {
  BufferId buffer;
};
/// Tells the caller the extents of an output.
struct StoreShape {
  BufferId output;
  DimList extents;
};

struct Step {
  std::variant<Call, If, Loop, Declare, DeclareBuffer, Assign, Bind, Require, Allocate, MoveBuffer, Release, StoreShape> action;
  std::string what{};   ///< for the comment: `Conv 'conv1' + relu: [1,1,28,28] -> [1,14,14,16]`
  std::string value{};  ///< of the graph: the first output of the node that it belongs to; see origins.h

  /// What it calls, or null.
  Call* call() { return std::get_if<Call>(&action); }
  const Call* call() const { return std::get_if<Call>(&action); }
};

/// Calls visit(block) for each block of steps that a step holds: then, else; the body.
template <class AnyStep, class Visit>
void for_each_block(AnyStep& step, Visit&& visit) {
  if (auto* branches = std::get_if<If>(&step.action)) {
    visit(branches->then_steps);
    visit(branches->else_steps);
  }
  if (auto* loop = std::get_if<Loop>(&step.action)) visit(loop->body);
}
/// Calls visit(step, number) for all steps in pre-order.
template <class Steps, class Visit>
int for_each_step(Steps& steps, Visit&& visit, int number = 0) {
  for (auto& step : steps) {
    visit(step, number++);
    for_each_block(step, [&](auto& block) { number = for_each_step(block, visit, number); });
  }
  return number;
}
/// Calls visit(call, number) for all calls, with the numbers of their steps.
template <class Steps, class Visit>
void for_each_call(Steps& steps, Visit&& visit) {
  for_each_step(steps, [&](auto& step, int number) {
    if (auto* call = step.call()) visit(*call, number);
  });
}
/// Calls visit(PointerArg&) for every pointer of the step itself.
void for_each_pointer(Step& step, const std::function<void(PointerArg&)>& visit);
void for_each_pointer(const Step& step, const std::function<void(const PointerArg&)>& visit);

/// Symbols that are variables from the step on; a Loop's, in its body.
DimList symbols_bound(const Step& step);
/// The extents and counts that a step has beside the arguments of a call.
DimList sizes_of(const Step& step);

bool is_concurrent(const Step& step);

/// As many multiply-adds, or bytes moved, are worth a fork of threads, which costs some ten thousand multiply-adds.
inline constexpr int64_t kForkMacs = 1 << 16, kForkBytes = 1 << 17;
/// What `macs` multiply-adds or `bytes` take on one thread, in units that are worth a fork of threads.
double forks_worth(int64_t macs, int64_t bytes);
/// The caller's threads share such a call, where a unit has them: it can be large enough, and cannot fail.
bool worth_sharing(const Call& call);
/// It is large enough at the least sizes that its dimensions allow, empty ones apart.
bool always_worth_sharing(const Call& call);

/// The kernel that a step calls, or what it does instead: `if`, `loop`, `bind`.
std::string step_label(const Step& step);

/// For a visitor of the variants of this file.
template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace onnxc
