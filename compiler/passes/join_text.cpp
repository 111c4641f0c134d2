// What counts words takes the place of what normalises strings, cuts them into words and gives these numbers. The words of
// a string then need no memory, whose size has no bound:
//
//   s = StringNormalizer x     t = Tokenizer s     n = LabelEncoder t     y = TfIdfVectorizer n
//
// becomes y = onnxc.TextFeatures x, if nothing else reads what is in between. Strings in one column make a Flatten necessary.
#include "compiler/ops/operator.h"
#include "compiler/ops/text/text_features.h"
#include "compiler/passes/passes.h"

namespace onnxc {

Graph join_text(Graph graph) {
  const PerValue<int> definition = definitions(graph), uses = use_counts(graph);
  const auto only_read = [&](ValueId v, const char* op) -> const Node* {
    const Node* node = v == kAbsent || definition[v] < 0 || uses[v] != 1 ? nullptr : &graph.node(definition[v]);
    return node != nullptr && node->full_op() == op ? node : nullptr;
  };
  for (Node& node : graph.nodes) {
    for (auto& [name, region] : node.regions) *region = join_text(std::move(*region));
    if (!node.is("TfIdfVectorizer") || graph[node.inputs[0]].type.rank() != 2) continue;
    const Node* const encoder = only_read(node.inputs[0], "ai.onnx.ml.LabelEncoder");
    if (encoder == nullptr) continue;
    const Node* const view = only_read(encoder->inputs[0], "Flatten");
    const Node* const tokenizer = only_read((view == nullptr ? encoder : view)->inputs[0], "com.microsoft.Tokenizer");
    if (tokenizer == nullptr) continue;
    // One string for each row, in one column at most.
    const Extents &x = graph[tokenizer->inputs[0]].type.extents, &words = graph[encoder->inputs[0]].type.extents;
    if (!(x.size() == 1 || (x.size() == 2 && x[1] == Dim(1))) || !(words[0] == x[0]) || !counts_words(*tokenizer, *encoder, node)) continue;
    const Node* normalizer = x.size() == 1 ? only_read(tokenizer->inputs[0], "StringNormalizer") : nullptr;
    if (normalizer != nullptr && (graph[normalizer->inputs[0]].type.rank() != 1 || !only_changes_case(*normalizer))) normalizer = nullptr;
    Node joined = text_features(normalizer, *tokenizer, *encoder, node);
    joined.inputs = {(normalizer == nullptr ? tokenizer : normalizer)->inputs[0]};
    joined.outputs = node.outputs;
    node = std::move(joined);
  }
  return graph;
}

}  // namespace onnxc
