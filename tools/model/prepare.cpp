#include "tools/model/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/support/error_codes.h"
#include "tools/calibration/progress.h"

namespace onnxc {
namespace {

void refuse_quantised(const onnx::GraphProto& graph) {
  static const std::set<std::string> kQuantised = {"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear",
                                                   "MatMulNBits",    "MatMulBnb4",       "GatherBlockQuantized"};
  for (const auto& node : graph.node()) {
    const std::string& op = node.op_type();
    if (kQuantised.contains(op) || op.starts_with("QLinear") || op.ends_with("Integer") || op == "QGemm" || op == "QAttention" ||
        op == "DynamicQuantizeMatMul" || op == "DynamicQuantizeLSTM")
      throw Error(ErrorCode::QuantisedAlready, fmt::format("the model is quantised already: it has {}", shown(node)),
                  "give the model in floats that it was made from");
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) refuse_quantised(attribute.g());
    }
  }
}

/// Before IR version 4 every initialiser is listed as an input, and means a constant all the same.
void drop_default_inputs(onnx::GraphProto& graph, bool is_early) {
  std::set<std::string> initial;
  for (const auto& tensor : graph.initializer()) initial.insert(tensor.name());
  for (int i = graph.input_size(); i-- > 0;) {
    if (!initial.contains(graph.input(i).name())) continue;
    if (!is_early) say(fmt::format("input '{}' has an initialiser: it is a constant of the result", one_line(graph.input(i).name())));
    graph.mutable_input()->DeleteSubrange(i, 1);
  }
}

/// A BatchNormalization behind a Conv or Gemm that nothing else reads goes into its weights. Returns their number.
int fold_batch_norms(onnx::GraphProto& graph) {
  int folded = 0;
  for (int i = 0; i < graph.node_size(); ++i) {
    const onnx::NodeProto& norm = graph.node(i);
    if (!is_op(norm, "BatchNormalization") || norm.input_size() != 5 || norm.output_size() != 1 ||
        integer_attribute(norm, "training_mode", 0) != 0)
      continue;
    GraphIndex index(graph);
    const int position = index.producer(norm.input(0));
    if (position < 0 || !index.has_one_reader(norm.input(0))) continue;
    const onnx::NodeProto& node = graph.node(position);
    Layer layer;
    layer.kind = is_op(node, "Conv") ? Layer::Kind::Conv : is_op(node, "Gemm") ? Layer::Kind::Gemm : Layer::Kind::Other;
    if (layer.kind == Layer::Kind::Other || node.input_size() < 2) continue;
    if (layer.kind == Layer::Kind::Gemm && (number_attribute(node, "alpha", 1) != 1 || number_attribute(node, "beta", 1) != 1)) continue;
    const onnx::TensorProto* const weight = index.initialiser(node.input(1));
    const std::string bias_name = node.input_size() > 2 ? node.input(2) : std::string();
    if (weight == nullptr || weight->data_type() != onnx::TensorProto::FLOAT || weight->dims_size() < 2 || !is_own(index, node.input(1)) ||
        !is_own(index, bias_name))
      continue;
    const std::vector<float> scale = floats_of(index.initialiser(norm.input(1))), shift = floats_of(index.initialiser(norm.input(2))),
                             mean = floats_of(index.initialiser(norm.input(3))), variance = floats_of(index.initialiser(norm.input(4)));
    const auto rows = static_cast<std::size_t>(weight->dims(static_cast<int>(row_axis(layer, node))));
    std::vector<float> bias = bias_name.empty() ? std::vector<float>(rows) : floats_of(index.initialiser(bias_name));
    if (scale.size() != rows || shift.size() != rows || mean.size() != rows || variance.size() != rows || bias.size() != rows) continue;
    const double epsilon = static_cast<double>(number_attribute(norm, "epsilon", 1e-5f));
    std::vector<double> factors(rows);
    for (std::size_t r = 0; r < rows; ++r) {
      factors[r] = static_cast<double>(scale[r]) / std::sqrt(static_cast<double>(variance[r]) + epsilon);
      bias[r] =
          static_cast<float>((static_cast<double>(bias[r]) - static_cast<double>(mean[r])) * factors[r] + static_cast<double>(shift[r]));
    }
    TensorData scaled = to_tensor(*weight);
    scale_rows(scaled, row_axis(layer, node), factors);
    set_initialiser(graph, node.input(1), scaled);
    onnx::NodeProto& folded_into = *graph.mutable_node(position);
    if (bias_name.empty()) {
      const std::string name = index.fresh(node.input(1) + "_bias");
      *graph.add_initializer() = to_proto(floats_tensor(bias), name);
      if (folded_into.input_size() == 3) folded_into.set_input(2, name);
      else folded_into.add_input(name);
    } else {
      set_initialiser(graph, bias_name, floats_tensor(bias));
    }
    folded_into.set_output(0, norm.output(0));
    graph.mutable_node()->DeleteSubrange(i--, 1);
    ++folded;
  }
  if (folded > 0) remove_unused(graph);
  return folded;
}

}  // namespace

Types infer_types(const std::filesystem::path& model, CompileOptions options) {
  Types types;
  options.stop_after = "infer_shapes";
  options.watch = [&](const std::string& pass, const Graph& graph) {
    if (pass != "infer_shapes") return;
    for (const Value& value : graph.values) types.emplace(value.name, value.type);
  };
  compile_model(model, options);
  return types;
}

PreparedModel prepare_model(const std::filesystem::path& path, int64_t opset, const CompileOptions& options) {
  infer_types(path, options);  // the compiler checks the model before anything of it is believed
  PreparedModel prepared{read_editable_model(path)};
  onnx::ModelProto& model = prepared.model;
  refuse_quantised(model.graph());
  const bool is_early = model.ir_version() < 4;
  raise_opset(model, opset);
  drop_default_inputs(*model.mutable_graph(), is_early);
  move_constants(*model.mutable_graph());
  prepared.folded = fold_batch_norms(*model.mutable_graph());
  return prepared;
}

}  // namespace onnxc
