#include "compiler/lowering/memory/accesses.h"

#include <algorithm>
#include <vector>

namespace onnxc {
namespace {

/// Multiply-adds that a load of an operand serves, and of one that is copied to scratch memory first.
constexpr double kShared = 4, kCopied = 16;

class Estimate {
 public:
  explicit Estimate(const Program& program) : program_(program), bytes_(program.buffers.size(), 0), read_(program.buffers.size(), false) {
    for_each_step(program.steps, [&](const Step& step, int) {
      for_each_pointer(step, [&](const PointerArg& p) {
        if (!p.writes) read_[root_of(program, p.buffer)] = true;
      });
    });
    walk(program.steps, 1);
  }

  PerBuffer<double> take() { return std::move(bytes_); }

 private:
  void walk(const std::vector<Step>& steps, double times) {
    for (const Step& step : steps) {
      if (step.call() != nullptr) count(*step.call(), times);
      else for_each_pointer(step, [&](const PointerArg& p) { add(p, elements(p), times); });
      const Loop* const loop = std::get_if<Loop>(&step.action);
      const bool known = loop != nullptr && !loop->limited && loop->most.is_constant();
      for_each_block(step, [&](const std::vector<Step>& block) {
        walk(block, known ? times * static_cast<double>(std::max<int64_t>(loop->most.value(), 1)) : times);
      });
    }
  }

  void count(const Call& call, double times) {
    const double macs = static_cast<double>(call.macs.is_constant() ? call.macs.value() : 0);
    double results = 0;
    bool copies = false;
    int64_t channels = 0;  // of the operands
    for_each_pointer(Step{call}, [&](const PointerArg& p) {
      const Buffer& b = program_[p.buffer];
      if (is_scratch(p)) copies = true;
      else if (p.writes) results = std::max(results, elements(p));
      else if (is_image(b) && b.extents[1].is_constant()) channels = std::max(channels, b.extents[1].value());
    });
    const bool depthwise = macs < results * static_cast<double>(channels);  // nothing that one channel reads serves another
    const double shared = depthwise ? 1 : kShared, copied = depthwise ? 1 : kCopied;
    bool first = true;
    for (const Arg& arg : call.args) {
      const PointerArg* const p = pointer_of(arg);
      if (p == nullptr) {
        Call others;
        others.args = {arg};
        for_each_pointer(Step{std::move(others)}, [&](const PointerArg& q) { add(q, q.writes ? 0 : results, times); });
      } else if (p->writes) {
        add(*p, is_scratch(*p) ? macs / shared : 0, times);
      } else {
        add(*p, macs / (first && copies ? copied : shared), times);
        first = false;
      }
    }
  }

  /// What an argument points to, if it is an operand of the kernel rather than of its epilogue or parameters.
  static const PointerArg* pointer_of(const Arg& arg) {
    if (const auto* const tensor = std::get_if<TensorArg>(&arg)) return &tensor->pointer;
    return std::get_if<PointerArg>(&arg);
  }

  static bool is_image(const Buffer& b) { return b.extents.size() > (b.pixel_stride == Dim(0) ? 3 : 2); }

  bool is_scratch(const PointerArg& p) const {
    const BufferId root = root_of(program_, p.buffer);
    return p.writes && !read_[root] && program_[root].space == Buffer::Space::Arena;
  }

  double element_bytes(const PointerArg& p) const {
    const ElementType type = p.as == ElementType::Undefined ? program_[p.buffer].element : p.as;
    return type == ElementType::Undefined ? 1 : std::max(held_bits(type) / 8.0, 1.0);
  }

  double elements(const PointerArg& p) const {
    const Dim bytes = program_[p.buffer].bytes;
    return bytes.is_constant() ? static_cast<double>(bytes.value()) / element_bytes(p) : 0;
  }

  /// At least each element once.
  void add(const PointerArg& p, double count, double times) {
    bytes_[root_of(program_, p.buffer)] += std::max(count, elements(p)) * element_bytes(p) * times;
  }

  const Program& program_;
  PerBuffer<double> bytes_;
  PerBuffer<bool> read_;
};

}  // namespace

PerBuffer<double> accesses_of(const Program& program) { return Estimate(program).take(); }

}  // namespace onnxc
