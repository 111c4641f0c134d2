// Step: one action of a run. Most steps call a kernel; the others control which steps run, and manage variables and
// memory.
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
#include "compiler/ir/device.h"
#include "compiler/ir/requirement.h"

namespace onnxc {

struct Step;

/// Calls a kernel of the catalogue. `args` are in the order of its signature.
struct Call {
  std::string kernel;    ///< name of its row
  std::string header;    ///< onnxc/HEADER
  std::string function;  ///< in namespace onnxc; if it begins with `::`, in the namespace that it names
  std::vector<TemplateArg> template_args{};
  std::vector<Arg> args{};
  DimList binds{};        ///< symbols that it stores extents in
  bool parallel = false;  ///< takes onnxc::Share as its first argument
  bool fallible = false;  ///< returns a Status
  Device device = Device::Cpu;
  /// On a GPU: threads for a kernel that a processor runs as well; 0: it is a GPU's own.
  Dim items = 0;
  int64_t tickets = 0;       ///< words, zeros before and after, by which blocks of a GPU share work
  bool divisible = false;    ///< takes onnxc::Share as its last argument, which only GPUs pass
  bool specialised = false;  ///< compiled for its own extents, not once for all calls of the kernel
  /// Threads go on to it from the step before without waiting; see lowering/threads/concurrent_steps.h.
  bool concurrent = false;
  /// Pairs (written, read) of buffers that may share memory if the read buffer dies here: each element is read before
  /// it is written.
  std::vector<std::pair<BufferId, BufferId>> may_share{};
  Dim macs = 0;        ///< multiply-adds
  Dim bytes = 0;       ///< read and written
  double cost_ns = 0;  ///< predicted, on one thread; 0 if sizes are unknown
};
struct If {
  PointerArg condition;  ///< a bool
  std::vector<Step> then_steps, else_steps;
};
struct Loop {
  Dim iteration;           ///< a symbol for its number; a variable of the body
  Dim most;                ///< the largest number of iterations
  bool limited = false;    ///< the run ends with an error after `most` iterations
  PointerArg condition{};  ///< a bool that is read before each iteration; may have no buffer
  std::vector<Step> body;
};
/// Declares variables, with their first values.
struct Declare {
  DimList symbols, values;
};
/// Declares the pointer of a Heap buffer, or an Object.
struct DeclareBuffer {
  BufferId buffer;
};
struct Assign {
  DimList symbols, values;
};
/// Binds symbols to the elements of an integer tensor. They are variables from here on.
struct Bind {
  DimList symbols;
  PointerArg elements;
};
/// Ends the run if the requirement does not hold.
struct Require {
  Requirement requirement;
};
/// Allocates memory for a Heap buffer.
struct Allocate {
  BufferId buffer;
  Dim elements;
};
/// Moves what `from` points to into a Heap buffer or an Object. A heap block that it owned before is released.
struct MoveBuffer {
  BufferId buffer;
  PointerArg from;
};
/// Releases a Heap buffer's block.
struct Release {
  BufferId buffer;
};
/// Stores the extents of an output for the caller.
struct StoreShape {
  BufferId output;
  DimList extents;
};

struct Step {
  std::variant<Call, If, Loop, Declare, DeclareBuffer, Assign, Bind, Require, Allocate, MoveBuffer, Release, StoreShape> action;
  std::string what{};  ///< for the comment: `Conv 'conv1' + relu: [1,1,28,28] -> [1,14,14,16]`
  /// The name of the first output of the graph's node that it belongs to; see origins.h.
  std::string value{};

  /// The call, or null.
  Call* call() { return std::get_if<Call>(&action); }
  const Call* call() const { return std::get_if<Call>(&action); }
};

/// Calls visit(block) for each block of steps in a step: then and else, or the body.
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

/// Symbols that are variables from this step on; those of a Loop, in its body.
DimList symbols_bound(const Step& step);
/// The extents and counts that a step has in addition to a call's arguments.
DimList sizes_of(const Step& step);

bool is_concurrent(const Step& step);

/// The multiply-adds, or bytes moved, that are worth a fork of threads, which itself costs some ten thousand
/// multiply-adds.
inline constexpr int64_t kForkMacs = 1 << 16, kForkBytes = 1 << 17;
/// The cost of `macs` multiply-adds or `bytes` on one thread, in units that are worth a fork of threads.
double forks_worth(int64_t macs, int64_t bytes);
/// Whether the caller's threads, if a unit has them, share such a call: it may be large enough, and cannot fail.
bool worth_sharing(const Call& call);
/// Whether it is large enough even at the smallest sizes that its dimensions allow, except empty ones.
bool always_worth_sharing(const Call& call);

/// The kernel that a step calls, or what the step does instead: `if`, `loop`, `bind`.
std::string step_label(const Step& step);

/// For a visitor of the variants of this file.
template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace onnxc
