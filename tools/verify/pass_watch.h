// Translation validation: the graph after each pass is evaluated on the same inputs, and has to give what the first one gave.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "tools/verify/judge.h"

namespace onnxc {

/// Inputs to verify with.
struct Trial {
  std::string name;  ///< `test_data_set_0`, `NaN, batch=3`
  Terms terms{};
  std::vector<const HostValue*> inputs{};  ///< in the order of the graph's
  Answer expected{};                       ///< the evaluator's, for the imported graph
};

class PassWatch {
 public:
  /// What a pass has done to the results.
  struct Finding {
    enum class Kind : uint8_t { Unchanged, Right, Wrong, Unjudged };
    std::string pass;
    Kind kind = Kind::Unchanged;  ///< Unchanged: the graph is that of before, so it was not evaluated
    std::string text{};           ///< of the first trial that departs: its name and how; of Unjudged: why
    int judged = 0;               ///< trials
    double largest_error = 0;
  };

  PassWatch(const std::vector<Trial>& trials, SubnormalMode mode) : trials_(trials), mode_(mode) {}

  /// The graph as the pass left it. The first one is what the model says: it is only kept. After a departure nothing is evaluated any more.
  /// Returns what was found, for progress.
  const Finding& see(const std::string& pass, const Graph& graph);

  const std::vector<Finding>& findings() const { return findings_; }
  /// The first pass whose graph departs, or null.
  const Finding* guilty() const;

 private:
  Finding judge_graph(const std::string& pass, const Graph& graph) const;

  const std::vector<Trial>& trials_;
  SubnormalMode mode_;
  Graph before_;
  std::vector<Finding> findings_;
};

/// Whether two graphs are the same, names and constants included.
bool same_graph(const Graph& a, const Graph& b);

}  // namespace onnxc
