#include "compiler/select/signature.h"

#include <fmt/format.h>

#include <span>

#include "compiler/support/sha256.h"

namespace onnxc {
namespace {

constexpr std::size_t kLongest = 600, kLongestList = 64;

/// An attribute as text. Of long lists, as the nodes of tree ensembles are, the length alone counts.
std::string brief(const Attribute& attribute) {
  const auto long_list = [&]<class T>(const char* of) -> std::string {
    const auto* const list = std::get_if<std::vector<T>>(&attribute);
    return list != nullptr && list->size() > kLongestList ? fmt::format("{} {}", list->size(), of) : "";
  };
  for (std::string text : {long_list.template operator()<int64_t>("integers"), long_list.template operator()<float>("floats"),
                           long_list.template operator()<std::string>("strings")}) {
    if (!text.empty()) return text;
  }
  return attribute_text(attribute);
}

class Signature {
 public:
  Signature(const Graph& graph, const PerValue<Layout>& layouts) : graph_(graph), layouts_(layouts) {}

  void add(const Node& node) {
    text_ += node.full_op();
    if (!node.attributes.empty()) {
      std::string all;
      for (const auto& [name, value] : node.attributes) all += fmt::format("{}{} = {}", all.empty() ? "" : ", ", name, brief(value));
      text_ += " {" + all + "}";
    }
    const auto own = static_cast<std::size_t>(node.own_inputs());
    text_ += " " + list(std::span(node.inputs).first(own)) + " -> " + list(node.outputs);
    if (node.epilogue) text_ += fmt::format(" [{}]", node.epilogue->text());
    if (node.epilogue_operands > 0) text_ += list(std::span(node.inputs).subspan(own));
  }
  void add(std::string_view text) { text_ += text; }

  /// The text, with the bounds of its symbols.
  std::string text() {
    for (const auto& [name, symbol] : symbols_) text_ += fmt::format(", {} in {}..{}", name, symbol.min_value(), symbol.max_value());
    if (text_.size() <= kLongest) return text_;
    return text_.substr(0, kLongest) + "... " + sha256(std::as_bytes(std::span(text_))).substr(0, 16);
  }

 private:
  std::string list(std::span<const ValueId> values) {
    std::string all;
    for (const ValueId v : values) {
      if (!all.empty()) all += ", ";
      all += v == kAbsent ? "_" : value(v);
    }
    return "(" + all + ")";
  }

  std::string value(ValueId v) {
    const Value& value = graph_[v];
    for (const Dim extent : value.type.extents) extent.collect_symbols(symbols_);
    std::string text = (value.constant ? "const " : "") + value.type.text();
    if (const Layout& layout = layouts_[v]; layout.channels_last && !value.constant) text += " pixels " + layout.pixel_stride.text();
    return text;
  }

  const Graph& graph_;
  const PerValue<Layout>& layouts_;
  std::map<std::string, Dim> symbols_;
  std::string text_;
};

}  // namespace

std::string signature_of(const Graph& graph, const Node& node, std::span<const Node* const> absorbed, const PerValue<Layout>& layouts,
                         double streaming) {
  Signature signature(graph, layouts);
  for (const Node* before : absorbed) {
    signature.add(*before);
    signature.add(" then ");
  }
  signature.add(node);
  signature.add(fmt::format(" weights {}", streaming));
  return signature.text();
}

}  // namespace onnxc
