#include "compiler/frontend/function_precision.h"

#include <cstring>
#include <set>

#include "onnx/onnx_pb.h"

namespace onnxc {
namespace {

using onnx::TensorProto;

/// Converts a tensor of f32 to one of f64.
void widen(TensorProto& tensor) {
  if (tensor.data_type() != TensorProto::FLOAT) return;
  tensor.set_data_type(TensorProto::DOUBLE);
  for (float x : tensor.float_data()) tensor.add_double_data(static_cast<double>(x));
  for (std::size_t at = 0; at + sizeof(float) <= tensor.raw_data().size(); at += sizeof(float)) {
    float x;
    std::memcpy(&x, tensor.raw_data().data() + at, sizeof x);
    tensor.add_double_data(static_cast<double>(x));
  }
  tensor.clear_float_data();
  tensor.clear_raw_data();
}

/// Replaces value_float and value_floats by a tensor of f64.
void widen_constant(onnx::AttributeProto& a) {
  if (a.has_t()) return widen(*a.mutable_t());
  if (a.name() != "value_float" && a.name() != "value_floats") return;
  TensorProto tensor;
  tensor.set_data_type(TensorProto::DOUBLE);
  if (a.name() == "value_float") tensor.add_double_data(static_cast<double>(a.f()));
  else tensor.add_dims(a.floats_size());
  for (float x : a.floats()) tensor.add_double_data(static_cast<double>(x));
  a.Clear();
  a.set_name("value");
  a.set_type(onnx::AttributeProto::TENSOR);
  a.mutable_t()->Swap(&tensor);
}

}  // namespace

void widen_own_numbers(onnx::FunctionProto& body) {
  std::set<std::string> data(body.input().begin(), body.input().end());  // values that depend on elements of the call's inputs
  for (auto& node : *body.mutable_node()) {
    const bool extents = node.op_type() == "Shape" || node.op_type() == "Size";
    bool reads = node.op_type() == "If" || node.op_type() == "Loop" || node.op_type() == "Scan";
    for (const auto& input : node.input()) reads = reads || (!extents && data.count(input) != 0);
    if (reads) {
      data.insert(node.output().begin(), node.output().end());
      continue;
    }
    for (auto& a : *node.mutable_attribute()) {
      if (node.op_type() == "Constant" || node.op_type() == "ConstantOfShape") widen_constant(a);
      else if (node.op_type() == "Cast" && a.name() == "to" && a.i() == TensorProto::FLOAT) a.set_i(TensorProto::DOUBLE);
    }
  }
}

}  // namespace onnxc
