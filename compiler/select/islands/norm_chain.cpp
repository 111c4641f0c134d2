#include "compiler/select/islands/norm_chain.h"

#include <algorithm>
#include <optional>

#include "compiler/ops/kernel_query.h"
#include "compiler/ops/reduce/reduce.h"
#include "compiler/select/islands/terms.h"

namespace onnxc {
namespace {

struct Norm {
  ValueId x = kAbsent, scale = kAbsent, bias = kAbsent;
  bool centred = false;
  double epsilon = 0;
  std::vector<const Node*> absorbed;
};

class NormChain {
 public:
  NormChain(const Surroundings& around, const Node& last) : around_(around), graph_(around.graph), last_(last) {}

  std::optional<Norm> find() {
    const Type& type = graph_[last_.outputs[0]].type;
    if (!last_.is_map() || !type.is_tensor() || !type.ranked || type.rank() < 1 || type.element != ElementType::F32) return std::nullopt;
    if (!type.extents.back().is_constant() || around_.is_channels_last(last_.outputs[0])) return std::nullopt;
    extents_ = type.extents;
    const Terms terms(*last_.epilogue);
    if (!take_result(terms, terms.root()) || !take_deviation() || !take_difference()) return std::nullopt;
    // A row may be the whole value.
    for (const ValueId row : {found_.scale, found_.bias}) {
      if (row != kAbsent && (row == difference_ || row == deviation_->outputs[0])) return std::nullopt;
    }
    std::ranges::sort(found_.absorbed);  // as in the graph
    return found_;
  }

 private:
  double n() const { return static_cast<double>(extents_.back().value()); }
  ValueId input(int number) const { return last_.inputs[static_cast<std::size_t>(number)]; }
  bool is_whole(ValueId v) const { return graph_[v].type.element == ElementType::F32 && graph_[v].type.extents == extents_; }
  /// f32 along the last axis alone.
  bool is_row(ValueId v) const {
    const Type& type = graph_[v].type;
    return type.element == ElementType::F32 && type.rank() >= 1 && type.rank() <= static_cast<int>(extents_.size()) &&
           type.extents.back() == extents_.back() && element_count(type.extents) == extents_.back();
  }

  /// Scale and bias around the quotient of a difference and a deviation.
  bool take_result(const Terms& e, int at) {
    if (e.applies(at, Fn::Add)) {
      for (const int side : {0, 1}) {
        const auto bias = e.input(e.arg(at, side));
        if (!bias || !is_row(input(*bias)) || !take_scaled(e, e.arg(at, 1 - side))) continue;
        found_.bias = input(*bias);
        return true;
      }
      return false;
    }
    return take_scaled(e, at);
  }
  bool take_scaled(const Terms& e, int at) {
    if (take_quotient(e, at)) return true;
    if (!e.applies(at, Fn::Mul)) return false;
    for (const int side : {0, 1}) {
      const auto scale = e.input(e.arg(at, side));
      if (!scale || !is_row(input(*scale)) || !take_quotient(e, e.arg(at, 1 - side))) continue;
      found_.scale = input(*scale);
      return true;
    }
    return false;
  }
  bool take_quotient(const Terms& e, int at) {
    inverse_ = e.applies(at, Fn::Mul);
    if (!inverse_ && !e.applies(at, Fn::Div)) return false;
    for (const int side : {0, 1}) {
      const auto d = e.input(e.arg(at, side)), s = e.input(e.arg(at, 1 - side));
      if (!d || !s || (side == 1 && !inverse_) || !is_whole(input(*d))) continue;
      if (mean_of(input(*s)) == nullptr) continue;
      difference_ = input(*d);
      deviation_ = mean_of(input(*s));
      return true;
    }
    return false;
  }

  /// The sum over the last axis that alone reads its operand and is read once; null if `v` is none.
  const Node* mean_of(ValueId v) const {
    const Node* const node = around_.only_producer(v);
    if (node == nullptr || !node->is("ReduceSum") || !node->epilogue || node->epilogue_operands > 0) return nullptr;
    const auto axes = reduced_axes(graph_, *node);
    const bool last = axes && *axes == std::vector<int>{static_cast<int>(extents_.size()) - 1};
    return last && graph_[v].type.rank() == static_cast<int>(extents_.size()) && is_whole(node->inputs[0]) ? node : nullptr;
  }
  bool is_mean(const Terms& e, int at) const {
    return e.applies(at, Fn::Div) && e.input(e.arg(at, 0)) == 0 && e.number(e.arg(at, 1)) == n();
  }

  /// sqrt(mean + epsilon) or its reciprocal, of squares of the difference.
  bool take_deviation() {
    const Terms e(*deviation_->epilogue);
    int at = e.root();
    if (e.applies(at, Fn::Pow) && e.number(e.arg(at, 1)) == (inverse_ ? -0.5 : 0.5)) {
      at = e.arg(at, 0);
    } else {
      if (inverse_) {
        const bool divided = e.applies(at, Fn::Div) && e.number(e.arg(at, 0)) == 1.0;
        if (!divided && !e.applies(at, Fn::Reciprocal)) return false;
        at = e.arg(at, divided ? 1 : 0);
      }
      if (!e.applies(at, Fn::Sqrt)) return false;
      at = e.arg(at, 0);
    }
    if (!e.applies(at, Fn::Add)) return false;
    const int side = e.number(e.arg(at, 1)) ? 0 : 1;
    const auto epsilon = e.number(e.arg(at, 1 - side));
    if (!epsilon || !is_mean(e, e.arg(at, side))) return false;
    found_.epsilon = *epsilon;
    const Node* const square = around_.only_producer(deviation_->inputs[0]);
    const auto is_difference = [&](ValueId v) { return v == difference_; };
    if (square == nullptr || !square->is_map() || !std::ranges::all_of(square->inputs, is_difference)) return false;
    const Terms of(*square->epilogue);
    const int root = of.root();
    const bool power = of.applies(root, Fn::Pow) && of.input(of.arg(root, 0)) && of.number(of.arg(root, 1)) == 2.0;
    const bool product = of.applies(root, Fn::Mul) && of.input(of.arg(root, 0)) && of.input(of.arg(root, 1));
    uses_of_square_ = static_cast<int>(square->inputs.size());
    found_.absorbed = {square, deviation_};
    return power || product;
  }

  /// x - mean(x), if nobody else reads it; else the rows are not centred.
  bool take_difference() {
    found_.x = difference_;
    const int position = around_.definitions[difference_];
    const Node* const node = position < 0 ? nullptr : &graph_.node(position);
    // The square and the result read it.
    if (node == nullptr || !node->is_map() || node->inputs.size() != 2 || around_.uses[difference_] != uses_of_square_ + 1) return true;
    const Terms e(*node->epilogue);
    if (!e.applies(e.root(), Fn::Sub)) return true;
    const auto x = e.input(e.arg(e.root(), 0)), mean = e.input(e.arg(e.root(), 1));
    if (!x || !mean || *x == *mean) return true;
    const ValueId whole = node->inputs[static_cast<std::size_t>(*x)];
    const Node* const sum = mean_of(node->inputs[static_cast<std::size_t>(*mean)]);
    if (sum == nullptr || sum->inputs[0] != whole || !is_whole(whole)) return true;
    const Terms of(*sum->epilogue);
    if (!is_mean(of, of.root())) return true;
    found_.x = whole;
    found_.centred = true;
    found_.absorbed.insert(found_.absorbed.end(), {node, sum});
    return true;
  }

  const Surroundings& around_;
  const Graph& graph_;
  const Node& last_;
  Extents extents_;
  Norm found_;
  ValueId difference_ = kAbsent;
  const Node* deviation_ = nullptr;
  int uses_of_square_ = 1;  ///< of the difference
  bool inverse_ = false;    ///< the deviation's reciprocal is a factor
};

void lower_norm(KernelQuery& last, const char* layer, const char* root_mean_square) {
  const PerValue<Layout> layouts(last.graph().values.size());
  const Norm norm = *NormChain(Surroundings(last.graph(), layouts), last.node()).find();
  const View x = last.operand(norm.x), y = last.out(0);
  const Dim n = y.extents.back();
  NamedArgs params{{"rows", dim_arg(element_count({y.extents.begin(), y.extents.end() - 1}))},
                   {"n", dim_arg(n)},
                   {"x_row", dim_arg(n)},
                   {"y_row", dim_arg(n)},
                   {"epsilon", NumberArg{norm.epsilon, ElementType::F32}}};
  if (norm.scale != kAbsent) params.emplace_back("scale", last.operand(norm.scale).pointer);
  if (norm.bias != kAbsent) params.emplace_back("bias", last.operand(norm.bias).pointer);
  StepBuilder step = last.call(norm.centred ? layer : root_mean_square);
  step.pointer(x).pointer(y).params(std::move(params)).may_share(y, x);
  step.call().bytes = element_count(y.extents) * 8;
  step.emit();
}

}  // namespace

std::vector<const Node*> absorbed_by_norm(const Surroundings& around, const Node& last, const Target&) {
  if (!last.is_map()) return {};
  const auto norm = NormChain(around, last).find();
  return norm ? norm->absorbed : std::vector<const Node*>{};
}

void lower_norm_chain(KernelQuery& last) { lower_norm(last, "layer_norm", "rms_norm"); }
void lower_gpu_norm_chain(KernelQuery& last) { lower_norm(last, "gpu_layer_norm", "gpu_rms_norm"); }

}  // namespace onnxc
