// Computes images by stripes of rows if the images in between are what makes the arena large:
//
//                                              x0 = Slice(x, rows 0..57);   a0 = Conv(x0);  y0 = Conv(a0)
//   a = Conv(x)    112 rows, 96 channels       x1 = Slice(x, rows 55..112); a1 = Conv(x1);  y1 = Conv(a1)
//   y = Conv(a)     56 rows, 24 channels       y = Concat(y0, y1)
//
// Only one stripe of `a` is live at a time. Rows at the seams are computed twice. With channels-last layouts, the
// slices and the operands of the Concat are places inside x and y, so nothing is copied. This is also known as
// patch-based execution; unlike patches, stripes are contiguous in what they are joined to.
//
// Which nodes run by stripes, and by how many: the bytes and the work of each run of nodes are estimated. Then the
// lowest peak is sought such that every node is below it, or in a run that is; dynamic programming over the nodes
// finds the runs with the least work.
#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "compiler/passes/order_problem.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/stripe_rows.h"

namespace onnxc {
namespace {

/// The nodes `first` to `last`, computed by `count` stripes.
struct StripedRun {
  std::size_t first, last;
  int64_t count;
  int64_t peak = 0;  ///< bytes that are live while it runs
  double extra = 0;  ///< work in addition to that of the nodes without stripes
  friend bool operator==(const StripedRun&, const StripedRun&) = default;
};

bool joins_rows(const Graph& graph, const Node& node) {
  return node.is("Concat") && node.integer("axis", 0) == kRowAxis && image_rows(graph[node.outputs[0]].type);
}

/// As order_problem, but rows that a Concat joins lie inside its result.
OrderProblem problem_of(const Graph& graph) {
  OrderProblem problem = order_problem(graph);
  const PerValue<int> definition = definitions(graph);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    if (!joins_rows(graph, graph.nodes[n])) continue;
    int first = static_cast<int>(n);
    for (ValueId part : graph.nodes[n].inputs) {
      if (problem.bytes[part] == 0) continue;
      first = std::min(first, definition[part]);
      problem.bytes[part] = 0;
    }
    if (first == static_cast<int>(n)) continue;
    problem.nodes[static_cast<std::size_t>(first)].writes.push_back(graph.nodes[n].outputs[0]);
    problem.nodes[n].writes.clear();
    problem.nodes[n].reads.push_back(graph.nodes[n].outputs[0]);
  }
  return problem;
}

class StripeSearch {
 public:
  explicit StripeSearch(const Graph& graph) : graph_(graph), problem_(problem_of(graph)), definition_(definitions(graph)) {
    const std::size_t n = graph.nodes.size();
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    heights_ = live_bytes(problem_, order);
    last_use_.assign(graph.values.size(), -1);
    for (std::size_t k = 0; k < n; ++k) {
      for (ValueId v : problem_.nodes[k].reads) last_use_[v] = static_cast<int>(k);
      works_.push_back(works_by_rows(graph, graph.nodes[k]));
      row_work_.push_back(works_.back() ? work_of_row(graph, graph.nodes[k]) : 0);
      work_ += row_work_.back() * static_cast<double>(works_.back() ? rows_of(graph.nodes[k].outputs[0]) : 0);
    }
    for (ValueId v : graph.outputs) last_use_[v] = static_cast<int>(n);
    carried_.assign(n + 1, 0);
    for (std::size_t k = 0; k < n; ++k) {
      for (ValueId v : problem_.nodes[k].writes) {
        for (int at = static_cast<int>(k) + 1; at <= last_use_[v]; ++at) carried_[static_cast<std::size_t>(at)] += problem_.bytes[v];
      }
    }
    candidates_ = find_candidates();
  }

  /// Runs that do not overlap, with the lowest peak over them and all nodes outside, if the work may grow by at most
  /// the share `most_extra`.
  std::vector<StripedRun> find(double most_extra) const {
    if (heights_.empty()) return {};
    std::vector<int64_t> peaks;
    const int64_t highest = std::ranges::max(heights_);
    for (const StripedRun& run : candidates_) peaks.push_back(run.peak);
    for (int64_t height : heights_) peaks.push_back(height);
    std::erase_if(peaks, [&](int64_t peak) { return peak >= highest; });
    std::ranges::sort(peaks);
    std::vector<StripedRun> best;
    // The lowest possible peak is among peaks[low, high).
    std::size_t low = 0, high = peaks.size();
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (auto cover = cover_below(peaks[middle], most_extra * work_)) {
        best = std::move(*cover);
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return best;
  }

  /// The rows that stripe `s` needs of the values inside the run and of those that the run reads. Empty if a stripe
  /// would read no row of an image.
  std::optional<std::map<ValueId, Rows>> demands(const StripedRun& run, int64_t s) const {
    std::map<ValueId, Rows> rows;
    const auto demand = [&](ValueId v, Rows r) {
      const auto [it, fresh] = rows.emplace(v, r);
      if (!fresh) it->second = {std::min(it->second.begin, r.begin), std::max(it->second.end, r.end)};
    };
    for (ValueId v : results(run)) demand(v, own_rows(v, run, s));
    for (std::size_t k = run.last + 1; k-- > run.first;) {
      const Node& node = graph_.nodes[k];
      for (ValueId v : node.outputs) {
        if (rows.contains(v)) demand(node.outputs[0], rows.at(v));
      }
      if (!rows.contains(node.outputs[0])) return std::nullopt;  // nothing needs it
      const Rows out = rows.at(node.outputs[0]);
      for (ValueId v : node.outputs) rows[v] = out;
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        const auto read = rows_read(graph_, node, i, out);
        if (!read) continue;
        if (read->count() <= 0) return std::nullopt;
        demand(node.inputs[i], *read);
      }
    }
    return rows;
  }

  /// The values that the run computes for nodes after it.
  std::vector<ValueId> results(const StripedRun& run) const {
    std::vector<ValueId> list;
    for (std::size_t k = run.first; k <= run.last; ++k) {
      for (ValueId v : graph_.nodes[k].outputs) {
        if (last_use_[v] > static_cast<int>(run.last)) list.push_back(v);
      }
    }
    return list;
  }

  /// The rows of a result that stripe `s` contributes.
  Rows own_rows(ValueId v, const StripedRun& run, int64_t s) const {
    return {rows_of(v) * s / run.count, rows_of(v) * (s + 1) / run.count};
  }

 private:
  static constexpr double kCallWork = 2e4;  // the cost of starting a kernel, in multiply-adds

  int64_t rows_of(ValueId v) const { return *image_rows(graph_[v].type); }

  int64_t row_bytes(ValueId v) const { return row_elements(graph_[v].type) * held_bits(graph_[v].type.element) / 8; }

  std::vector<StripedRun> find_candidates() const {
    constexpr std::size_t kMostCandidates = 30'000, kLongest = 40;
    constexpr int64_t kCounts[] = {2, 3, 4, 6, 8, 12, 16};
    const std::size_t longest = std::clamp<std::size_t>(kMostCandidates / (std::size(kCounts) * graph_.nodes.size()), 2, kLongest);
    std::vector<StripedRun> runs;
    for (std::size_t first = 0; first < graph_.nodes.size(); ++first) {
      int64_t highest = 0;
      for (std::size_t last = first; last < graph_.nodes.size() && last < first + longest && works_[last]; ++last) {
        highest = std::max(highest, heights_[last]);
        for (int64_t count : kCounts) {
          StripedRun run{first, last, count};
          if (measure(run) && run.peak < highest) runs.push_back(run);
        }
      }
    }
    return runs;
  }

  /// Fills in what the run costs. Returns false if it is impossible.
  bool measure(StripedRun& run) const {
    const std::vector<ValueId> made = results(run);
    int64_t around = carried_[run.first];
    for (ValueId v : made) {
      if (rows_of(v) < 2 * run.count) return false;
      around += problem_.bytes[v];
    }
    for (int64_t s = 0; s < run.count; ++s) {
      const auto rows = demands(run, s);
      if (!rows) return false;
      run.peak = std::max(run.peak, around + stripe_peak(run, s, *rows));
      for (std::size_t k = run.first; k <= run.last; ++k)
        run.extra += row_work_[k] * static_cast<double>(rows->at(graph_.nodes[k].outputs[0]).count()) + kCallWork;
    }
    for (std::size_t k = run.first; k <= run.last; ++k)
      run.extra -= row_work_[k] * static_cast<double>(rows_of(graph_.nodes[k].outputs[0])) + kCallWork;
    return true;
  }

  /// The largest number of bytes of a stripe that are live at once, without rows that lie inside whole values.
  int64_t stripe_peak(const StripedRun& run, int64_t s, const std::map<ValueId, Rows>& rows) const {
    const auto is_inside = [&](ValueId v) { return definition_[v] >= static_cast<int>(run.first); };
    const auto bytes = [&](ValueId v) -> int64_t {
      if (!rows.contains(v)) return 0;
      const bool held = problem_.bytes[v] > 0;  // in the arena, as a whole, outside the run
      const bool is_result = is_inside(v) && last_use_[v] > static_cast<int>(run.last);
      if (held && (!is_inside(v) || (is_result && rows.at(v) == own_rows(v, run, s)))) return 0;
      return row_bytes(v) * rows.at(v).count();
    };
    int64_t live = 0, peak = 0;
    for (std::size_t k = run.first; k <= run.last; ++k) {
      int64_t made = 0, dead = 0, reused = 0;
      for (ValueId v : graph_.nodes[k].outputs) made += bytes(v);
      for (ValueId v : problem_.nodes[k].reads) {
        if (!is_inside(v)) made += first_reader(v, run) == k ? bytes(v) : 0;  // cut from an input of the model
        const int last = last_use_[v];
        if (last != static_cast<int>(k) && !(last > static_cast<int>(run.last) && last_reader(v, run) == k)) continue;
        dead += bytes(v);
        if (reused == 0 && std::ranges::find(problem_.nodes[k].reuses, v) != problem_.nodes[k].reuses.end())
          reused = std::min(made, bytes(v));
      }
      peak = std::max(peak, live + made - reused);
      live += made - dead;
    }
    return peak;
  }

  bool reads(std::size_t k, ValueId v) const { return std::ranges::find(problem_.nodes[k].reads, v) != problem_.nodes[k].reads.end(); }
  std::size_t first_reader(ValueId v, const StripedRun& run) const {
    std::size_t k = run.first;
    while (k < run.last && !reads(k, v)) ++k;
    return k;
  }
  std::size_t last_reader(ValueId v, const StripedRun& run) const {
    std::size_t k = run.last;
    while (k > run.first && !reads(k, v)) --k;
    return k;
  }

  /// The candidates with the least extra work such that they, and all nodes outside them, take at most `peak` bytes.
  /// Empty if their extra work exceeds `most`.
  std::optional<std::vector<StripedRun>> cover_below(int64_t peak, double most) const {
    const std::size_t n = graph_.nodes.size();
    std::vector<double> extra(n + 1, std::numeric_limits<double>::infinity());
    std::vector<const StripedRun*> by(n + 1);
    extra[0] = 0;
    std::size_t next = 0;  // candidates are in the order of their first nodes
    for (std::size_t k = 0; k < n; ++k) {
      if (heights_[k] <= peak && extra[k] < extra[k + 1]) {
        extra[k + 1] = extra[k];
        by[k + 1] = nullptr;
      }
      for (; next < candidates_.size() && candidates_[next].first == k; ++next) {
        const StripedRun& run = candidates_[next];
        if (run.peak > peak || extra[k] + run.extra >= extra[run.last + 1]) continue;
        extra[run.last + 1] = extra[k] + run.extra;
        by[run.last + 1] = &run;
      }
    }
    if (extra[n] > most) return std::nullopt;
    std::vector<StripedRun> chosen;
    for (std::size_t k = n; k > 0; k = by[k] != nullptr ? by[k]->first : k - 1) {
      if (by[k] != nullptr) chosen.push_back(*by[k]);
    }
    std::ranges::reverse(chosen);
    return chosen;
  }

  const Graph& graph_;
  OrderProblem problem_;
  PerValue<int> definition_, last_use_;  // nodes
  // Bytes that are live while each node runs; bytes of values made before a node that it or a later one reads.
  std::vector<int64_t> heights_, carried_;
  std::vector<bool> works_;
  std::vector<double> row_work_;
  double work_ = 0;
  // All runs that take fewer bytes than their nodes without stripes, in the order of their first nodes.
  std::vector<StripedRun> candidates_;
};

/// Rewrites one run.
class Striper {
 public:
  Striper(const Graph& graph, const StripeSearch& search, Graph& result) : graph_(graph), search_(search), result_(result) {}

  void write(const StripedRun& run) {
    std::map<ValueId, std::vector<ValueId>> parts;
    for (int64_t s = 0; s < run.count; ++s) {
      rows_ = *search_.demands(run, s);
      here_.clear();
      for (std::size_t k = run.first; k <= run.last; ++k) write_stripe(graph_.nodes[k]);
      for (ValueId v : search_.results(run)) parts[v].push_back(part(v, search_.own_rows(v, run, s)));
    }
    for (auto& [whole, list] : parts) {
      Node join;
      join.op = "Concat";
      join.name = graph_.nodes[run.last].name;
      join.version = 13;
      join.inputs = std::move(list);
      join.outputs = {whole};
      join.attributes["axis"] = static_cast<int64_t>(kRowAxis);
      result_.nodes.push_back(std::move(join));
    }
  }

 private:
  Type with_rows(ValueId v, Rows rows) const {
    Type type = graph_[v].type;
    type.extents[kRowAxis] = rows.count();
    return type;
  }

  void write_stripe(const Node& node) {
    const Rows out = rows_.at(node.outputs[0]);
    Node copy = node;
    restrict_rows(graph_, copy, out);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (const auto read = rows_read(graph_, node, i, out)) copy.inputs[i] = part(node.inputs[i], *read);
    }
    for (ValueId& v : copy.outputs) {
      const ValueId stripe = result_.add_value(graph_[v].name, with_rows(v, out));
      here_[{v, out.begin, out.end}] = stripe;
      v = stripe;
    }
    result_.nodes.push_back(std::move(copy));
  }

  /// Some rows of a value, cut from the whole or from those of its rows that this stripe has.
  ValueId part(ValueId v, Rows rows) {
    if (const auto known = here_.find({v, rows.begin, rows.end}); known != here_.end()) return known->second;
    const Rows all{0, *image_rows(graph_[v].type)}, in_stripe = rows_.at(v);
    const auto source = here_.find({v, in_stripe.begin, in_stripe.end});
    if (source == here_.end() && rows == all) return v;
    const ValueId from = source != here_.end() ? source->second : v;
    const int64_t shift = source != here_.end() ? in_stripe.begin : 0;
    Node cut;
    cut.op = "Slice";
    cut.version = 13;
    const auto number = [&](const char* name, int64_t value) { return result_.add_constant(name, std::vector<int64_t>{value}); };
    cut.inputs = {from, number("first_row", rows.begin - shift), number("end_row", rows.end - shift), number("row_axis", kRowAxis)};
    cut.outputs = {result_.add_value(graph_[v].name, with_rows(v, rows))};
    result_.nodes.push_back(cut);
    return here_[{v, rows.begin, rows.end}] = cut.outputs[0];
  }

  struct Key {
    ValueId value;
    int64_t begin, end;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  const Graph& graph_;
  const StripeSearch& search_;
  Graph& result_;
  std::map<ValueId, Rows> rows_;  // that the current stripe needs
  std::map<Key, ValueId> here_;   // those that exist already
};

Graph with_stripes(const Graph& graph, const StripeSearch& search, const std::vector<StripedRun>& runs) {
  Graph result = graph;
  result.nodes.clear();
  const auto keep = [&](std::size_t first, std::size_t end) {
    result.nodes.insert(result.nodes.end(), graph.nodes.begin() + static_cast<std::ptrdiff_t>(first),
                        graph.nodes.begin() + static_cast<std::ptrdiff_t>(end));
  };
  Striper striper(graph, search, result);
  std::size_t next = 0;
  for (const StripedRun& run : runs) {
    keep(next, run.first);
    striper.write(run);
    next = run.last + 1;
  }
  keep(next, graph.nodes.size());
  return result;
}

}  // namespace

std::vector<Graph> stripe(const Graph& graph, std::span<const double> most_extra) {
  constexpr std::size_t kMostNodes = 4000;
  if (graph.nodes.empty() || binds_extents(graph) || graph.nodes.size() > kMostNodes) return {};
  const StripeSearch search(graph);
  std::vector<Graph> results;
  std::vector<StripedRun> last;
  for (const double most : most_extra) {
    std::vector<StripedRun> runs = search.find(most);
    if (runs == last) continue;
    results.push_back(with_stripes(graph, search, runs));
    last = std::move(runs);
  }
  return results;
}

}  // namespace onnxc
