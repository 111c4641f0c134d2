// Dynamic programming over the nodes in order. What the rest of the graph has to know of the nodes before is on which device each value that is still to be read
// was made, which devices have it, and where an island that goes on runs. Of all ways to the same such state only the cheapest is kept.
//
//     a -> b -> c     after b: {c waits for a from 0} {… from 1} …      with a chain of n nodes on k devices: n k states instead of k^n partitions
//
// Graphs that are nearly series-parallel have few values at once. For w of them there are some (k 2^k)^w states, most of which never occur.
#include "compiler/lowering/partition/walk_places.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace onnxc::partition {
namespace {

/// A value, or an island, between the node that begins it and the last that asks for it.
struct Live {
  int value, island;  ///< one of them is kNone
  int last;           ///< node
};

/// A byte for the device that made it, two for the set of those that have it.
constexpr std::size_t kBytes = 3;

struct PartialWalk {
  std::string places;  ///< kBytes for each live thing
  double cost = 0;
  int parent = kNone;  ///< among the states of the step before
  int device = 0;      ///< of the node of this step
  int away = 0;        ///< nodes that are not on the host: the fewer, the better where costs are equal

  bool better_than(const PartialWalk& other) const { return cost != other.cost ? cost < other.cost : away < other.away; }
};

struct Step {
  int parent, device;
};

unsigned holders(const std::string& places, std::size_t at) {
  return static_cast<unsigned char>(places[at + 1]) | static_cast<unsigned>(static_cast<unsigned char>(places[at + 2])) << 8;
}
std::string place(int device, unsigned held) {
  return {static_cast<char>(device), static_cast<char>(held & 0xff), static_cast<char>(held >> 8)};
}

class Walker {
 public:
  Walker(const Problem& problem, const std::vector<double>& price_ns)
      : problem_(problem),
        price_ns_(price_ns),
        made_by_(problem.nodes.size()),
        read_by_(problem.nodes.size()),
        may_run_(problem.nodes.size()) {
    const int nodes = static_cast<int>(problem.nodes.size());
    std::map<int, unsigned> may_run;  // of each island
    for (int i = 0; i < nodes; ++i) {
      for (int d = 0; d < problem.devices; ++d) may_run_[i] |= problem.may_run(i, d) ? 1u << d : 0;
      const int island = problem.nodes[i].island;
      if (island == kNone) continue;
      last_of_island_[island] = i;
      may_run.emplace(island, ~0u).first->second &= may_run_[i];
    }
    for (int i = 0; i < nodes; ++i) {
      if (problem.nodes[i].island != kNone) may_run_[i] = may_run[problem.nodes[i].island];
    }
    for (int v = 0; v < static_cast<int>(problem.values.size()); ++v) {
      const Value& value = problem.values[v];
      if (value.producer != kNone) made_by_[value.producer].push_back(v);
      int last = kNone;
      for (int reader : value.readers) {
        read_by_[reader].push_back(v);
        last = std::max(last, reader);
      }
      last_reader_.push_back(last);
    }
  }

  /// Without a result if it takes more states than `most_states`. No step keeps more than `width`.
  std::optional<Walk> run(int64_t most_states, std::size_t width) {
    Walk walk;
    std::vector<PartialWalk> states{begin()};
    std::vector<std::vector<Step>> steps;
    const int nodes = static_cast<int>(problem_.nodes.size());
    for (int i = 0; i < nodes; ++i) {
      states = advance(i, states, most_states - walk.states);
      if (states.empty()) return std::nullopt;
      if (states.size() > width) {
        std::ranges::stable_sort(states, [](const PartialWalk& a, const PartialWalk& b) { return a.better_than(b); });
        states.resize(width);
        walk.exact = false;
      }
      walk.states += static_cast<int64_t>(states.size());
      std::vector<Step>& step = steps.emplace_back();
      for (const PartialWalk& state : states) step.push_back({state.parent, state.device});
    }
    int at = 0;
    for (int s = 1; s < static_cast<int>(states.size()); ++s) at = states[s].better_than(states[at]) ? s : at;
    walk.devices.resize(nodes);
    for (int i = nodes; i-- > 0;) {
      walk.devices[i] = steps[i][at].device;
      at = steps[i][at].parent;
    }
    return walk;
  }

 private:
  /// A value at its beginning: where it is wanted in any case it is sent at once.
  std::string made(int v, int device, double& cost) const {
    unsigned held = 1u << device;
    for (int to : problem_.values[v].wanted) {
      if ((held >> to & 1) == 0) cost += problem_.transfer_ns(problem_.values[v], device, to);
      held |= 1u << to;
    }
    return place(device, held);
  }

  PartialWalk begin() {
    PartialWalk state;
    live_.clear();
    for (int v = 0; v < static_cast<int>(problem_.values.size()); ++v) {
      if (problem_.values[v].producer != kNone) continue;
      const std::string begun = made(v, problem_.values[v].place, state.cost);
      if (last_reader_[v] == kNone) continue;
      live_.push_back({v, kNone, last_reader_[v]});
      state.places += begun;
    }
    return state;
  }

  /// The states behind a node; none if they are more than `most`.
  std::vector<PartialWalk> advance(int node, const std::vector<PartialWalk>& states, int64_t most) {
    const int island = problem_.nodes[node].island;
    std::vector<char> reads(live_.size());
    std::size_t of_island = live_.size();
    for (std::size_t l = 0; l < live_.size(); ++l) {
      if (island != kNone && live_[l].island == island) of_island = l;
      reads[l] = live_[l].value != kNone && std::ranges::binary_search(read_by_[node], live_[l].value) ? 1 : 0;
    }
    const bool begins_island = island != kNone && of_island == live_.size() && last_of_island_[island] > node;
    std::unordered_map<std::string, std::size_t> seen;
    std::vector<PartialWalk> next;
    for (std::size_t s = 0; s < states.size(); ++s) {
      for (int device = 0; device < problem_.devices; ++device) {
        if ((may_run_[node] >> device & 1) == 0) continue;
        if (of_island < live_.size() && states[s].places[of_island * kBytes] != device) continue;
        PartialWalk state = after(node, device, states[s], reads);
        state.parent = static_cast<int>(s);
        if (begins_island) state.places += place(device, 0);
        const auto [found, is_new] = seen.emplace(state.places, next.size());
        if (is_new) next.push_back(std::move(state));
        else if (state.better_than(next[found->second])) next[found->second] = std::move(state);
      }
      if (static_cast<int64_t>(next.size()) > most) return {};
    }
    update_live(node, begins_island);
    return next;
  }

  PartialWalk after(int node, int device, const PartialWalk& before, const std::vector<char>& reads) const {
    PartialWalk state{{}, before.cost + problem_.nodes[node].cost_ns[device], kNone, device, before.away + (device != kHost)};
    if (!price_ns_.empty()) state.cost += price_ns_[device] * static_cast<double>(problem_.weight_bytes(node, device));
    for (std::size_t l = 0; l < live_.size(); ++l) {
      const std::size_t at = l * kBytes;
      const int made_on = before.places[at];
      unsigned held = holders(before.places, at);
      if (reads[l] != 0 && (held >> device & 1) == 0) {
        state.cost += problem_.transfer_ns(problem_.values[live_[l].value], made_on, device);
        held |= 1u << device;
      }
      if (live_[l].last > node) state.places += place(made_on, held);
    }
    for (int v : made_by_[node]) {
      const std::string begun = made(v, device, state.cost);
      if (last_reader_[v] > node) state.places += begun;
    }
    return state;
  }

  /// In the order of `after`.
  void update_live(int node, bool begins_island) {
    std::erase_if(live_, [&](const Live& l) { return l.last <= node; });
    for (int v : made_by_[node]) {
      if (last_reader_[v] > node) live_.push_back({v, kNone, last_reader_[v]});
    }
    const int island = problem_.nodes[node].island;
    if (begins_island) live_.push_back({kNone, island, last_of_island_[island]});
  }

  const Problem& problem_;
  const std::vector<double>& price_ns_;
  std::vector<std::vector<int>> made_by_, read_by_;  ///< values, in order, of each node
  std::vector<unsigned> may_run_;                    ///< devices on which a node, and all of its island, can run
  std::vector<int> last_reader_;                     ///< of each value
  std::map<int, int> last_of_island_;                ///< node
  std::vector<Live> live_;
};

}  // namespace

Walk walk_places(const Problem& problem, const std::vector<double>& price_ns, int64_t most_states) {
  Walker walker(problem, price_ns);
  if (std::optional<Walk> walk = walker.run(most_states, std::numeric_limits<std::size_t>::max())) return *std::move(walk);
  const std::size_t width = static_cast<std::size_t>(most_states) / problem.nodes.size();
  Walk walk = *walker.run(std::numeric_limits<int64_t>::max(), std::max<std::size_t>(width, 1));
  walk.states += most_states;  // which the first try took
  return walk;
}

}  // namespace onnxc::partition
