// Extents and elements.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <set>

#include "compiler/ir/tensor.h"
#include "tools/model/editable_model.h"
#include "tools/reduce/changes.h"

namespace onnxc {
namespace {

using onnx::GraphProto;
using onnx::ModelProto;
using onnx::TensorProto;

constexpr int64_t kMostListElements = 16;  // a constant of so many integers may hold extents, axes, pads

/// The tensor without the ends of its axes. False for elements that are no whole bytes.
bool cut_to(TensorProto& proto, const std::vector<int64_t>& extents) {
  const TensorData own = to_tensor(proto);
  if (own.type == ElementType::String || info(own.type).bits % 8 != 0) return false;
  TensorData made = TensorData::zeros(own.type, extents);
  const std::size_t width = static_cast<std::size_t>(info(own.type).bits) / 8, rank = extents.size();
  std::vector<int64_t> at(rank);
  const int64_t count = made.count();
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, from = 0;
    for (std::size_t k = rank; k-- > 0;) at[k] = rest % extents[k], rest /= extents[k];
    for (std::size_t k = 0; k < rank; ++k) from = from * own.shape[k] + at[k];
    std::memcpy(made.bytes.data() + static_cast<std::size_t>(i) * width, own.bytes.data() + static_cast<std::size_t>(from) * width, width);
  }
  const std::string name = proto.name();
  proto = to_proto(made, name);
  return true;
}

bool is_list_of_integers(const TensorProto& tensor) {
  if (tensor.data_type() != TensorProto::INT64 || tensor.dims_size() > 1) return false;
  return tensor.dims_size() == 0 || tensor.dims(0) <= kMostListElements;
}

/// Each extent that is `from` becomes `to`, in inputs, constants, lists of extents, and, where `attributes`, in integers of nodes.
bool replace_extent(ModelProto& model, int64_t from, int64_t to, bool attributes) {
  bool changed = false;
  GraphProto& graph = *model.mutable_graph();
  for (auto& input : *graph.mutable_input()) {
    for (auto& dim : *input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) {
      if (!dim.has_dim_value() || dim.dim_value() != from) continue;
      dim.set_dim_value(to);
      changed = true;
    }
  }
  for_each_tensor(graph, [&](TensorProto& tensor) {
    std::vector<int64_t> extents(tensor.dims().begin(), tensor.dims().end());
    if (std::ranges::find(extents, from) != extents.end() && !is_list_of_integers(tensor)) {
      std::ranges::replace(extents, from, to);
      changed |= cut_to(tensor, extents);
    } else if (is_list_of_integers(tensor)) {
      TensorData list = to_tensor(tensor);
      if (std::ranges::find(list.as<int64_t>(), from) == list.as<int64_t>().end()) return;
      std::ranges::replace(list.as<int64_t>(), from, to);
      const std::string name = tensor.name();
      tensor = to_proto(list, name);
      changed = true;
    }
  });
  if (!attributes) return changed;
  for (auto& node : *graph.mutable_node()) {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.type() == onnx::AttributeProto::INT && attribute.i() == from) attribute.set_i(to), changed = true;
      for (auto& i : *attribute.mutable_ints()) {
        if (i == from) i = to, changed = true;
      }
    }
  }
  return changed;
}

/// What an extent may become, the smallest first.
std::vector<int64_t> smaller(int64_t extent) {
  std::set<int64_t> found;
  for (const int64_t e : {int64_t{1}, int64_t{2}, extent / 2, extent - 1}) {
    if (e >= 1 && e < extent) found.insert(e);
  }
  return {found.begin(), found.end()};
}

/// Applies a function to the elements, as doubles.
template <class Function>
bool change_elements(TensorProto& proto, const Function& function) {
  TensorData data = to_tensor(proto);
  if (data.type != ElementType::F32 && data.type != ElementType::F64) return false;
  bool changed = false;
  const auto each = [&](auto span) {
    for (auto& x : span) {
      using T = std::remove_reference_t<decltype(x)>;
      using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
      const T y = static_cast<T>(function(static_cast<double>(x)));
      changed |= std::bit_cast<Bits>(x) != std::bit_cast<Bits>(y);  // a NaN is itself
      x = y;
    }
  };
  if (data.type == ElementType::F32) each(data.as<float>());
  else each(data.as<double>());
  const std::string name = proto.name();
  if (changed) proto = to_proto(data, name);
  return changed;
}

/// Whether its floats are all 0, or all 1: they are not made plain in another way.
bool is_plain(const TensorProto& proto) {
  const auto all = [&](double value) {
    TensorProto probe = proto;
    return !change_elements(probe, [&](double) { return value; });
  };
  const bool is_float = proto.data_type() == TensorProto::FLOAT || proto.data_type() == TensorProto::DOUBLE;
  return is_float && (all(0) || all(1));
}

bool all_zero(TensorProto& proto) {
  const TensorData data = to_tensor(proto);
  if (data.type == ElementType::String || std::ranges::all_of(data.bytes, [](std::byte b) { return b == std::byte{}; })) return false;
  const std::string name = proto.name();
  proto = to_proto(TensorData::zeros(data.type, data.shape), name);
  return true;
}

}  // namespace

std::vector<Change> shrink_extents(const ModelProto& model, const ValueTypes&) {
  std::set<int64_t, std::greater<>> extents;
  std::set<std::string> symbols;
  std::vector<Change> changes;
  const GraphProto& graph = model.graph();
  for (int i = 0; i < graph.input_size(); ++i) {
    const auto& shape = graph.input(i).type().tensor_type().shape();
    for (int axis = 0; axis < shape.dim_size(); ++axis) {
      const auto& dim = shape.dim(axis);
      if (!dim.dim_param().empty()) symbols.insert(dim.dim_param());
      if (!dim.has_dim_value()) continue;
      extents.insert(dim.dim_value());
      for (const int64_t to : smaller(dim.dim_value())) {
        changes.push_back([i, axis, to](ModelProto& m) {
          auto* own = m.mutable_graph()->mutable_input(i)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(axis);
          if (own->dim_value() <= to) return false;
          own->set_dim_value(to);
          return true;
        });
      }
    }
  }
  for (int i = 0; i < graph.initializer_size(); ++i) {
    const TensorProto& tensor = graph.initializer(i);
    for (int axis = 0; axis < tensor.dims_size(); ++axis) {
      extents.insert(tensor.dims(axis));
      for (const int64_t to : smaller(tensor.dims(axis))) {
        changes.push_back([i, axis, to](ModelProto& m) {
          TensorProto& own = *m.mutable_graph()->mutable_initializer(i);
          std::vector<int64_t> shape(own.dims().begin(), own.dims().end());
          if (shape[static_cast<std::size_t>(axis)] <= to) return false;
          shape[static_cast<std::size_t>(axis)] = to;
          return cut_to(own, shape);
        });
      }
    }
  }
  std::vector<Change> everywhere;
  for (const std::string& symbol : symbols) {
    everywhere.push_back([symbol](ModelProto& m) {
      bool changed = false;
      for (auto& input : *m.mutable_graph()->mutable_input()) {
        for (auto& dim : *input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) {
          if (dim.dim_param() == symbol) dim.set_dim_value(2), changed = true;
        }
      }
      return changed;
    });
  }
  for (const int64_t from : extents) {
    for (const int64_t to : smaller(from)) {
      for (const bool attributes : {false, true})
        everywhere.push_back([=](ModelProto& m) { return replace_extent(m, from, to, attributes); });
    }
  }
  everywhere.insert(everywhere.end(), changes.begin(), changes.end());
  return everywhere;
}

std::vector<Change> plain_constants(const ModelProto& model, const ValueTypes&) {
  using Edit = bool (*)(TensorProto&);
  constexpr Edit kEdits[] = {
      all_zero,
      [](TensorProto& t) { return change_elements(t, [](double) { return 1.0; }); },
      [](TensorProto& t) {
        return change_elements(t, [](double x) { return x == 0.0 || std::abs(x) == 1.0 ? x : std::copysign(std::ceil(std::abs(x)), x); });
      },
  };
  std::vector<Change> changes;
  for (int i = 0; i < model.graph().initializer_size(); ++i) {
    for (const Edit edit : kEdits) {
      changes.push_back([i, edit](ModelProto& m) {
        TensorProto& tensor = *m.mutable_graph()->mutable_initializer(i);
        return !is_plain(tensor) && edit(tensor);
      });
    }
  }
  return changes;
}

}  // namespace onnxc
