// onnxc.Extents: integers that are known as extents, such as the results of Shape and of arithmetic on it. It has no
// inputs, so nothing that computed the numbers from tensors is needed any more. They are stored where a kernel or the
// caller reads them, and not at all if they only shape other tensors.
//
//   s: i64[2] = onnxc.Extents() {elements = ["batch", "2*h + 1"], shape = [2], type = 7}
#include "compiler/ops/shape_arithmetic.h"

#include "compiler/ops/kernel_query.h"

namespace onnxc {

Node make_extents_node(const Graph& graph, ValueId value) {
  const Value& v = graph[value];
  Node node;
  node.domain = "onnxc";
  node.op = "Extents";
  node.version = 1000;
  node.outputs = {value};
  std::vector<std::string> texts;
  for (Dim d : *v.elements) texts.push_back(d.text());
  node.attributes = {{"elements", std::move(texts)}, {"shape", values(v.type.extents)}, {"type", static_cast<int64_t>(v.type.element)}};
  return node;
}

bool is_extents(const Node& node) { return node.domain == "onnxc" && node.op == "Extents"; }

void bind_symbols(Node& extents, const std::map<std::string, Dim>& symbols) {
  auto& texts = std::get<std::vector<std::string>>(extents.attributes.at("elements"));
  for (std::string& text : texts) text = parse_dim(text).substitute(symbols).text();
}

namespace {

void infer_extents(Inference& n) {
  const auto it = n.node().attributes.find("elements");
  const auto* texts = it == n.node().attributes.end() ? nullptr : std::get_if<std::vector<std::string>>(&it->second);
  const auto type = element_type_numbered(static_cast<int32_t>(n.node().integer("type", 7)));
  if (texts == nullptr || !type) n.fail("has no elements");
  DimList elements;
  for (const std::string& text : *texts) elements.push_back(parse_dim(text));
  n.output(0, *type, to_extents(n.node().integers("shape", {static_cast<int64_t>(texts->size())})));
  n.output_elements(0, std::move(elements));
}

void lower_extents(KernelQuery& l) {
  const DimList& elements = *l.graph()[l.node().outputs[0]].elements;
  View y = l.out(0);
  constexpr std::size_t kMostOfCall = 2 * kMaxRank;  // the capacity of Ints
  for (std::size_t first = 0; first < elements.size(); first += kMostOfCall) {
    PointerArg to = y.pointer;
    to.offset += static_cast<int64_t>(first);
    const std::size_t last = std::min(elements.size(), first + kMostOfCall);
    l.call("store_integers")
        .pointer(to)
        .dims(DimList(elements.begin() + static_cast<std::ptrdiff_t>(first), elements.begin() + static_cast<std::ptrdiff_t>(last)))
        .emit();
  }
}

}  // namespace

extern const Operator op_Extents;
const Operator op_Extents{
    .name = "Extents", .domain = "onnxc", .max_inputs = 0, .max_outputs = 1, .infer = infer_extents, .lower = lower_extents};

}  // namespace onnxc
