// H. S. Stone, "Multiprocessor scheduling with the aid of network flow algorithms", 1977. The source stands for device 0, the sink for device 1. A node's
// arc from the source is cut where the node is on the sink's side, and so has the capacity of its cost there; its arc to the sink has the cost on device 0.
//
// A value is sent once, however many read it. So its producer has no arc to each reader but one to a vertex `out`, which an arc that is never cut binds
// to the sink's side if any reader is there. The same the other way round for values that come back:
//
//       producer --t01--> out --uncut--> each reader       cut, at t01, if the producer is on device 0 and a reader is on device 1
//       each reader --uncut--> back --t10--> producer      cut, at t10, if the producer is on device 1 and a reader is on device 0
//
// Each partition is a cut of the same cost, with `out` and `back` on the better side for them, and each cut is a partition that costs no more.
// Nodes that only one device can run are that device's terminal. A value has as many arcs as readers, so the network is as large as the graph.
#include "compiler/lowering/partition/minimum_cut.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "compiler/lowering/partition/preflow.h"
#include "compiler/support/error.h"

namespace onnxc::partition {
namespace {

constexpr int kSource = -1, kSink = -2;  // in the place of vertices

class Builder {
 public:
  Builder(const Problem& problem, std::array<double, 2> price_ns) : problem_(problem), price_ns_(price_ns) {
    for (int i = 0; i < static_cast<int>(problem.nodes.size()); ++i) {
      const bool on_host = problem.may_run(i, 0), on_other = problem.may_run(i, 1);
      ONNXC_CHECK(on_host || on_other, "each node can run somewhere");
      ONNXC_CHECK(problem.nodes[i].island == kNone, "islands were merged");
      vertices_.push_back(!on_other ? kSource : !on_host ? kSink : add_vertex());
    }
  }

  Network build() {
    choose_unit();
    for (std::size_t i = 0; i < vertices_.size(); ++i) {
      if (vertices_[i] < 0) continue;
      arc(kSource, vertices_[i], units(priced(static_cast<int>(i), 1)));
      arc(vertices_[i], kSink, units(priced(static_cast<int>(i), 0)));
    }
    for (const Value& value : problem_.values) add_value(value);
    return std::move(network_);
  }

  const std::vector<int>& vertices() const { return vertices_; }
  /// Twice what rounding changes: once the cut that was found, once the one that should have been.
  double slack_ns() const { return 2 * rounded_off_ns_; }

 private:
  double priced(int node, int device) const {
    const double price = price_ns_[device];
    return problem_.nodes[node].cost_ns[device] + (price > 0 ? price * static_cast<double>(problem_.weight_bytes(node, device)) : 0);
  }

  /// Integers keep the cut exact, and free of any threshold below which room counts as none.
  void choose_unit() {
    double sum = 1;
    for (std::size_t i = 0; i < vertices_.size(); ++i) {
      if (vertices_[i] >= 0) sum += priced(static_cast<int>(i), 0) + priced(static_cast<int>(i), 1);
    }
    for (const Value& value : problem_.values) sum += problem_.transfer_ns(value, 0, 1) + problem_.transfer_ns(value, 1, 0);
    units_per_ns_ = std::ldexp(1.0, std::min(20, 59 - std::ilogb(sum)));
  }
  int64_t units(double ns) {
    const int64_t rounded = std::llround(ns * units_per_ns_);
    rounded_off_ns_ += std::abs(static_cast<double>(rounded) / units_per_ns_ - ns);
    return rounded;
  }

  int add_vertex() {
    network_.from_source.push_back(0);
    network_.to_sink.push_back(0);
    return static_cast<int>(network_.to_sink.size()) - 1;
  }

  /// Between terminals it costs the same in all cuts, or is never cut.
  void arc(int from, int to, int64_t capacity, int64_t back = 0) {
    if (from == to) return;
    if (from < 0 && to < 0) return;
    if (from == kSource) network_.from_source[to] += capacity;
    else if (from == kSink) network_.to_sink[to] += back;
    else if (to == kSink) network_.to_sink[from] += capacity;
    else if (to == kSource) network_.from_source[from] += back;
    else network_.arcs.push_back({from, to, capacity, back});
  }

  void add_value(const Value& value) {
    const int producer = value.producer == kNone ? (value.place == 0 ? kSource : kSink) : vertices_[value.producer];
    std::vector<int> readers;
    bool on_host = false, on_other = false;  // some reader in any case
    for (int device : value.wanted) (device == 0 ? on_host : on_other) = true;
    for (int reader : value.readers) {
      const int vertex = vertices_[reader];
      if (vertex >= 0) readers.push_back(vertex);
      else (vertex == kSource ? on_host : on_other) = true;
    }
    const int64_t out = units(problem_.transfer_ns(value, 0, 1)), back = units(problem_.transfer_ns(value, 1, 0));
    if (on_other) arc(producer, kSink, out);
    if (on_host) arc(kSource, producer, back);
    const bool may_go_out = !on_other && producer != kSink && out > 0;
    const bool may_come_back = !on_host && producer != kSource && back > 0;
    if (readers.size() == 1) return arc(producer, readers[0], may_go_out ? out : 0, may_come_back ? back : 0);
    if (readers.empty()) return;
    if (may_go_out) {
      const int all = add_vertex();
      arc(producer, all, out);
      for (int reader : readers) arc(all, reader, Network::kUncut);
    }
    if (may_come_back) {
      const int any = add_vertex();
      arc(any, producer, back);
      for (int reader : readers) arc(reader, any, Network::kUncut);
    }
  }

  const Problem& problem_;
  const std::array<double, 2> price_ns_;
  std::vector<int> vertices_;  ///< of each node
  Network network_;
  double units_per_ns_ = 1, rounded_off_ns_ = 0;
};

}  // namespace

Cut minimum_cut(const Problem& problem, std::array<double, 2> price_ns) {
  ONNXC_CHECK(problem.devices == 2, "a cut has two sides");
  Builder builder(problem, price_ns);
  const SinkSide side = smallest_sink_side(builder.build());
  Cut cut{{}, builder.slack_ns(), side.work};
  for (int vertex : builder.vertices()) cut.devices.push_back(vertex == kSink || (vertex >= 0 && side.contains[vertex]) ? 1 : 0);
  return cut;
}

}  // namespace onnxc::partition
