// A step that one call makes: its arguments in the order of the kernel's parameters, its cost, and what it says of itself in the outline.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/lowering/lowerer.h"
#include "compiler/ops/kernel_query.h"
#include "compiler/support/error_codes.h"

namespace onnxc {
namespace {

/// The bytes of the tensors that a node reads and writes, without constants.
Dim bytes_moved(const Graph& graph, const Node& node) {
  Dim bytes = 0;
  const auto add = [&](ValueId v) {
    if (v == kAbsent || graph[v].constant != nullptr || !graph[v].type.is_tensor() || !graph[v].type.ranked) return;
    bytes += bytes_of(graph[v].type);
  };
  for (int i = 0; i < node.own_inputs(); ++i) add(node.input(i));
  for (ValueId v : node.outputs) add(v);
  return bytes;
}

/// What an island reads through, which says nothing of what it computes.
bool is_move(const Node& node) {
  static constexpr std::string_view kMoves[] = {"Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze",
                                                "Identity",  "Expand",  "Split",   "Gather"};
  return node.domain.empty() && std::ranges::find(kMoves, node.op) != std::end(kMoves);
}

/// `Conv 'a' + clip + Conv 'b': f32[1, 3, 8, 8] -> f32[1, 16, 4, 4]`: the nodes of a step and their epilogues, the
/// inputs that come from outside the step, and the result of the last node.
std::string description(const Graph& graph, const std::vector<const Node*>& absorbed, const Node& last) {
  constexpr int kMostInputs = 2;
  std::vector<const Node*> nodes = absorbed;
  nodes.push_back(&last);
  const auto is_inner = [&](ValueId v) {
    return std::ranges::any_of(nodes, [&](const Node* node) { return std::ranges::find(node->outputs, v) != node->outputs.end(); });
  };
  std::string names, shapes;
  int inputs = 0;
  for (const Node* node : nodes) {
    const bool moves = nodes.size() > 1 && is_move(*node);
    const std::string separator = names.empty() ? "" : " + ";
    if (node->is_map()) {
      names += fmt::format("{}elementwise '{}' ({})", separator, node->name, summary(*node->epilogue));
    } else if (!moves) {
      names += fmt::format("{}{} '{}'", separator, node->full_op(), node->name);
      if (node->epilogue) names += " + " + summary(*node->epilogue);
    }
    for (int i = 0; i < (moves ? 1 : node->own_inputs()) && inputs < kMostInputs; ++i) {
      if (!node->has_input(i) || graph[node->input(i)].constant || is_inner(node->input(i))) continue;
      shapes += (inputs++ == 0 ? "" : ", ") + graph[node->input(i)].type.text();
    }
  }
  return fmt::format("{}: {} -> {}", names, shapes, last.has_output(0) ? graph[last.output(0)].type.text() : "");
}

/// Refuses a call whose results depend on the machine.
void check_reproducible(const Program& program, const Call& call) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::NotReproducible, fmt::format("results of {} depend on the machine", why), "leave --math=reproducible out");
  };
  if (find_kernel(call.kernel).varies) refuse("the kernel " + call.kernel);
  const bool scalars = call.kernel.starts_with("scalar_") || call.kernel == "map_scalar";
  const auto check = [&](int number) {
    const Expr& expr = program.exprs[static_cast<std::size_t>(number)];
    if (const std::string name = varying_function(expr, !scalars && is_vectorisable(expr)); !name.empty())
      refuse(name + ", a function of the C library,");
  };
  for (const TemplateArg& a : call.template_args) {
    if (const auto* const expr = std::get_if<ExprType>(&a)) check(expr->number);
  }
  for (const Arg& a : call.args) {
    if (const auto* const epilogue = std::get_if<EpilogueArg>(&a); epilogue != nullptr && epilogue->expr >= 0) check(epilogue->expr);
  }
}

}  // namespace

StepBuilder::StepBuilder(KernelQuery& lowering, const Kernel& kernel) : lowering_(lowering), call_(call_of(kernel)) {
  ++lowering.lowerer_.begun_;
  what_ = description(lowering.graph_, lowering.absorbed(), lowering.node_);
}

void StepBuilder::emit() {
  const auto keeps = [](const Arg& arg) { return std::holds_alternative<EpilogueArg>(arg) && std::get<EpilogueArg>(arg).expr < 0; };
  while (!call_.args.empty() && keeps(call_.args.back())) call_.args.pop_back();  // what kernels do where none is given
  if (lowering_.math() == Math::Reproducible) check_reproducible(lowering_.lowerer_.program_, call_);
  if (call_.bytes == Dim(0)) call_.bytes = bytes_moved(lowering_.graph_, lowering_.node_);
  const Dim operations = call_.macs + work_;
  if (operations.is_constant() && call_.bytes.is_constant())
    call_.cost_ns = find_kernel(call_.kernel)
                        .cost(static_cast<double>(operations.value()), static_cast<double>(call_.bytes.value()) + bytes_from_afar_);
  --lowering_.lowerer_.begun_;
  lowering_.lowerer_.emit(std::move(call_), std::move(what_));
}

StepBuilder& StepBuilder::pointer(PointerArg p) {
  call_.args.emplace_back(p);
  return *this;
}
StepBuilder& StepBuilder::tensor(const View& v) {
  ONNXC_CHECK(!v.layout.channels_last, "a Tensor argument is row-major");
  call_.args.emplace_back(TensorArg{v.pointer, v.extents});
  return *this;
}
StepBuilder& StepBuilder::optional_tensor(int input) {
  if (lowering_.has(input)) return tensor(lowering_.in(input));
  call_.args.emplace_back(AbsentArg{});
  return *this;
}
StepBuilder& StepBuilder::optional_pointer(int input, ElementType element) {
  return lowering_.has(input) ? pointer(lowering_.in(input)) : null(element);
}
StepBuilder& StepBuilder::dim(Dim value) {
  call_.args.emplace_back(DimArg{value});
  return *this;
}
StepBuilder& StepBuilder::dims(DimList values) {
  call_.args.emplace_back(DimsArg{std::move(values)});
  return *this;
}
StepBuilder& StepBuilder::number(double value, ElementType type) {
  call_.args.emplace_back(NumberArg{value, type});
  return *this;
}
StepBuilder& StepBuilder::epilogue(EpilogueArg e) {
  call_.args.emplace_back(std::move(e));
  return *this;
}
StepBuilder& StepBuilder::form(FormArg f) {
  call_.args.emplace_back(std::move(f));
  return *this;
}
StepBuilder& StepBuilder::arg(Arg a) {
  call_.args.push_back(std::move(a));
  return *this;
}
StepBuilder& StepBuilder::binds(Dim symbol) {
  call_.binds.push_back(symbol);
  call_.args.emplace_back(SymbolArg{symbol});
  return *this;
}
StepBuilder& StepBuilder::address(const View& v) {
  call_.args.emplace_back(AddressArg{v.pointer.buffer});
  return *this;
}
StepBuilder& StepBuilder::heap() {
  lowering_.lowerer_.need_heap(lowering_.node_);
  call_.args.emplace_back(UnitArg::Heap);
  return *this;
}
StepBuilder& StepBuilder::params(NamedArgs members) {
  call_.args.emplace_back(std::make_shared<ParamsArg>(ParamsArg{std::move(members)}));
  return *this;
}
StepBuilder& StepBuilder::template_arg(TemplateArg a) {
  call_.template_args.push_back(std::move(a));
  return *this;
}
StepBuilder& StepBuilder::specialised() {
  call_.specialised = true;
  return *this;
}

StepBuilder& StepBuilder::macs(Dim macs) {
  call_.macs = macs;
  return *this;
}
StepBuilder& StepBuilder::work(Dim operations) {
  work_ = operations;
  return *this;
}
StepBuilder& StepBuilder::bytes_from_afar(double more) {
  bytes_from_afar_ = more;
  return *this;
}
StepBuilder& StepBuilder::may_share(const View& written, const View& read) {
  // A part of a larger buffer may have neighbours that are still live.
  const bool whole = written.pointer.offset == Dim(0) && read.pointer.offset == Dim(0);
  if (whole && same_storage(written.extents, written.layout, read.layout))
    call_.may_share.emplace_back(written.pointer.buffer, read.pointer.buffer);
  return *this;
}

}  // namespace onnxc
