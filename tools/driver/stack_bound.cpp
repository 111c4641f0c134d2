#include "tools/driver/stack_bound.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "tools/driver/code_budget.h"

namespace onnxc {
namespace {

struct Function {
  std::string name;
  std::optional<int64_t> frame;  // of a function of the unit
  bool is_dynamic = false;       // its frame has parts whose size only a run knows
  std::set<std::string> calls;
};

/// The quoted string behind `key: ` in a line, or empty.
std::string_view value_of(std::string_view line, std::string_view key) {
  const std::string start = std::string(key) + ": \"";
  const std::size_t at = line.find(start);
  if (at == line.npos) return {};
  const std::string_view rest = line.substr(at + start.size());
  return rest.substr(0, rest.find('"'));
}

/// A node's label ends in `\n64 bytes (static)\n0 dynamic objects`.
void read_frame(Function& function, std::string_view label) {
  const std::size_t end = label.find(" bytes (");
  if (end == label.npos) return;
  const std::size_t begin = label.rfind("\\n", end) + 2;
  int64_t bytes = 0;
  std::from_chars(label.data() + begin, label.data() + end, bytes);
  function.frame = bytes;
  function.is_dynamic = label.substr(end).starts_with(" bytes (dynamic)");
}

/// Functions that only the unit sees are called FILE:NAME.
std::string name_of(const std::string& title) {
  const std::size_t file = title.find(":_Z");
  return demangled(title.substr(file == title.npos ? 0 : file + 1));
}

std::map<std::string, Function> read_graph(std::string_view graph) {
  std::map<std::string, Function> functions;
  while (!graph.empty()) {
    const std::string_view line = graph.substr(0, graph.find('\n'));
    graph.remove_prefix(std::min(line.size() + 1, graph.size()));
    if (line.starts_with("node: ")) {
      const std::string title(value_of(line, "title"));
      Function& function = functions[title];
      function.name = name_of(title);
      read_frame(function, value_of(line, "label"));
    } else if (line.starts_with("edge: ")) {
      functions[std::string(value_of(line, "sourcename"))].calls.emplace(value_of(line, "targetname"));
    }
  }
  // A constructor or destructor of complete objects has no node where it is an alias of the one of parts of objects.
  std::vector<std::string> aliases;
  for (const auto& [title, function] : functions) {
    for (const std::string& callee : function.calls) {
      if (!functions.contains(callee)) aliases.push_back(callee);
    }
  }
  for (const std::string& alias : aliases) {
    std::string body = alias;
    for (const std::string_view kind : {"C1E", "D1E"}) {
      if (const std::size_t at = body.rfind(kind); at != body.npos) body[at + 1] = '2';
    }
    Function& function = functions[alias];
    function.name = name_of(alias);
    if (functions.contains(body) && body != alias) function = {function.name, 0, false, {body}};
  }
  return functions;
}

class Search {
 public:
  explicit Search(std::map<std::string, Function> functions) : functions_(std::move(functions)) {}

  StackBound run() {
    StackBound bound;
    std::string deepest;
    int64_t most = 0;
    for (const auto& [title, function] : functions_) {
      if (const int64_t bytes = depth(title); bytes >= most) most = bytes, deepest = title;
    }
    bound.why = why_;
    if (why_.empty()) bound.bytes = most;
    for (std::string at = deepest; why_.empty() && !at.empty(); at = next_[at]) bound.path.push_back(functions_.at(at).name);
    bound.others.assign(others_.begin(), others_.end());
    return bound;
  }

 private:
  /// The frames of a function and of the deepest that it calls.
  int64_t depth(const std::string& title) {
    const auto [known, is_new] = depths_.try_emplace(title, kUnderWay);
    if (!is_new) {
      if (known->second == kUnderWay) why_ = functions_.at(title).name + " calls itself";
      return std::max<int64_t>(known->second, 0);
    }
    const Function& function = functions_.at(title);
    if (title == "__indirect_call") why_ = "functions are called by pointers";
    if (function.is_dynamic) why_ = function.name + " has arrays whose size only a run knows";
    if (!function.frame) others_.insert(function.name);
    int64_t below = 0;
    for (const std::string& callee : function.calls) {
      if (const int64_t bytes = depth(callee); bytes > below) below = bytes, next_[title] = callee;
    }
    return depths_[title] = function.frame.value_or(StackBound::kLibraryFrame) + below;
  }

  static constexpr int64_t kUnderWay = -1;
  std::map<std::string, Function> functions_;
  std::map<std::string, int64_t> depths_;
  std::map<std::string, std::string> next_;  // the callee on the deepest path
  std::set<std::string> others_;
  std::string why_;
};

}  // namespace

StackBound stack_bound(std::string_view graph) { return Search(read_graph(graph)).run(); }

}  // namespace onnxc
