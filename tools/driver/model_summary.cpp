#include "tools/driver/model_summary.h"

#include "compiler/support/error_codes.h"
#include "tools/driver/files.h"
#include "tools/driver/wire_reader.h"

namespace onnxc {
namespace {

void add_operators(std::string_view graph, std::set<std::string>& operators, int depth);

void add_operator(std::string_view node, std::set<std::string>& operators, int depth) {
  std::string type, domain;
  for (WireReader r(node); r.next();) {
    if (r.field() == 4) type = r.bytes();
    if (r.field() == 7) domain = r.bytes();
    if (r.field() != 5) continue;
    for (WireReader attribute(r.bytes()); attribute.next();) {
      if (attribute.field() == 6 || attribute.field() == 11) add_operators(attribute.bytes(), operators, depth + 1);
    }
  }
  operators.insert(domain.empty() || domain == "ai.onnx" ? type : domain + "." + type);
}

void add_operators(std::string_view graph, std::set<std::string>& operators, int depth) {
  if (depth > 100) throw Error(ErrorCode::NestedTooDeeply, "graphs are nested more than 100 deep");
  for (WireReader r(graph); r.next();) {
    if (r.field() == 1) add_operator(r.bytes(), operators, depth);
  }
}

/// The element types in a TypeProto, at any depth.
void add_elements(std::string_view type, std::set<std::string>& elements, int depth = 0) {
  if (depth > 100) throw Error(ErrorCode::NestedTooDeeply, "types are nested more than 100 deep");
  for (WireReader r(type); r.next();) {
    if (r.field() != 1 && r.field() != 4 && r.field() != 5 && r.field() != 8 && r.field() != 9) continue;
    const bool is_map = r.field() == 5, is_tensor = r.field() == 1 || r.field() == 8;
    for (WireReader inner(r.bytes()); inner.next();) {
      if (inner.field() == (is_map ? 2 : 1) && !is_tensor) add_elements(inner.bytes(), elements, depth + 1);
      if (inner.field() != 1 || !(is_tensor || is_map)) continue;
      if (const auto element = element_type_numbered(static_cast<int32_t>(inner.number()))) elements.emplace(name(*element));
    }
  }
}

BorderValue read_border_value(std::string_view value_info, std::set<std::string>& elements) {
  BorderValue value;
  for (WireReader r(value_info); r.next();) {
    if (r.field() == 1) value.name = r.bytes();
    if (r.field() != 2) continue;
    add_elements(r.bytes(), elements);
    for (WireReader type(r.bytes()); type.next();) {
      switch (type.field()) {
        case 1: value.kind = ValueKind::Tensor; break;
        case 4: value.kind = ValueKind::Sequence; break;
        case 5: value.kind = ValueKind::Map; break;
        case 9: value.kind = ValueKind::Optional; break;
        default: break;
      }
    }
  }
  return value;
}

std::string_view name_of_tensor(std::string_view tensor) {
  for (WireReader r(tensor); r.next();) {
    if (r.field() == 8) return r.bytes();
  }
  return {};
}

}  // namespace

int ModelSummary::find_input(const std::string& name) const {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

ModelSummary summarize_model(const std::filesystem::path& path) {
  const std::string bytes = read_file(path);
  ModelSummary summary;
  std::string_view graph;
  for (WireReader r(bytes); r.next();) {
    if (r.field() == 7) graph = r.bytes();
    if (r.field() != 8) continue;
    std::string domain;
    int64_t version = 0;
    for (WireReader opset(r.bytes()); opset.next();) {
      if (opset.field() == 1) domain = opset.bytes();
      if (opset.field() == 2) version = static_cast<int64_t>(opset.number());
    }
    summary.opsets[domain == "ai.onnx" ? "" : domain] = version;
  }
  add_operators(graph, summary.operators, 0);
  for (WireReader r(graph); r.next();) {
    if (r.field() == 11) summary.inputs.push_back(read_border_value(r.bytes(), summary.elements));
    if (r.field() == 12) summary.outputs.push_back(read_border_value(r.bytes(), summary.elements));
  }
  for (WireReader r(graph); r.next();) {
    if (r.field() != 5) continue;
    const int input = summary.find_input(std::string(name_of_tensor(r.bytes())));
    if (input < 0) continue;
    try {
      summary.inputs[static_cast<std::size_t>(input)].initial = parse_tensor(r.bytes());
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Unsupported) throw;
      summary.inputs[static_cast<std::size_t>(input)].initial = HostValue{};  // it has one, in external data
    }
  }
  return summary;
}

}  // namespace onnxc
