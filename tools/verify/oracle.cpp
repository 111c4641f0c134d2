#include "tools/verify/oracle.h"

#include <fmt/format.h>
#include <onnxc/subnormals.hpp>

#include <algorithm>
#include <new>

namespace onnxc {
namespace {

/// The processor's mode for subnormal numbers, as long as it lives.
class ModeGuard {
 public:
  explicit ModeGuard(SubnormalMode mode) : before_(flush_bits()) {
    if (mode == SubnormalMode::Flush) set_flush_bits(kFlushBits);
  }
  ~ModeGuard() { set_flush_bits(before_); }
  ModeGuard(const ModeGuard&) = delete;
  ModeGuard& operator=(const ModeGuard&) = delete;

 private:
  decltype(flush_bits()) before_;
};

}  // namespace

Answer ask_evaluator(const Graph& graph, const std::vector<const HostValue*>& inputs, SubnormalMode mode) {
  Answer answer;
  std::vector<Constant> constants;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (inputs[k]->kind != ValueKind::Tensor)
      return {Answer::Kind::Unknown, fmt::format("input '{}' is no tensor", graph[graph.inputs[k]].name), {}};
    constants.push_back(std::make_shared<TensorData>(inputs[k]->tensor));
  }
  try {
    const ModeGuard guard(mode);
    const std::vector<Evaluated> values = evaluate_outputs(graph, constants);
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (values[k].refused) return {Answer::Kind::Refused, values[k].why, {}};
      const bool known = values[k].value != nullptr;
      if (!known) answer.why = values[k].why;
      answer.outputs.push_back({graph[graph.outputs[k]].name, known ? HostValue::of(*values[k].value) : HostValue{}, values[k].why});
    }
    const bool any = std::ranges::any_of(values, [](const Evaluated& value) { return value.value != nullptr; });
    if (!any && !values.empty()) return {Answer::Kind::Unknown, answer.why, {}};
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::Internal) throw;
    return {e.kind() == ErrorKind::Invalid ? Answer::Kind::Refused : Answer::Kind::Unknown, e.diagnostics()[0].text(), {}};
  } catch (const std::bad_alloc&) {
    return {Answer::Kind::Unknown, "the evaluator has not enough memory", {}};
  }
  return answer;
}

}  // namespace onnxc
