// A search in depth over the nodes with weights, largest first. Each takes the device that is wished for, else the one with the most room. A branch ends where what
// the remaining nodes need at least is more than the room on all devices together.
#include "compiler/lowering/partition/fit_weights.h"

#include <algorithm>
#include <cstddef>

namespace onnxc::partition {
namespace {

constexpr int64_t kMostSteps = 1 << 20;

struct Item {
  int node;
  int64_t least;               // bytes, on the device that needs the fewest
  std::vector<int> devices{};  // that may run it, in the order in which they are tried
  std::size_t next = 0;
};

class Search {
 public:
  Search(const Problem& problem, const std::vector<int>& wish) : problem_(problem), devices_(wish), room_(problem.devices) {
    for (int d = 0; d < problem.devices; ++d) room_[d] = problem.limit(d);
    for (int i = 0; i < static_cast<int>(wish.size()); ++i) {
      Item item{i, kNoLimit};
      for (int d = 0; d < problem.devices; ++d) {
        if (!problem.may_run(i, d)) continue;
        item.devices.push_back(d);
        item.least = std::min(item.least, problem.weight_bytes(i, d));
      }
      if (item.devices.size() == 1) {
        devices_[i] = item.devices[0];
        if (!take(i, devices_[i])) impossible_ = true;
      } else {
        items_.push_back(std::move(item));
      }
    }
    std::ranges::stable_sort(items_, std::ranges::greater{}, [&](const Item& item) { return most_bytes(item); });
    needed_.assign(items_.size() + 1, 0);
    for (std::size_t i = items_.size(); i-- > 0;) needed_[i] = items_[i].least + needed_[i + 1];
  }

  Partition run() {
    if (impossible_) return {Outcome::NoRoom};
    std::size_t at = 0;
    if (items_.empty()) return {Outcome::Found, kNone, devices_};
    begin(items_[0]);
    for (int64_t step = 0; step < kMostSteps; ++step) {
      Item& item = items_[at];
      if (item.next > 0) give_back(item.node);
      devices_[item.node] = kNone;
      while (item.next < item.devices.size() && !take(item.node, item.devices[item.next])) ++item.next;
      if (item.next == item.devices.size()) {
        if (at == 0) return {Outcome::NoRoom};
        --at;
        continue;
      }
      devices_[item.node] = item.devices[item.next++];
      if (at + 1 == items_.size()) return {Outcome::Found, kNone, devices_};
      if (room() < needed_[at + 1]) continue;
      begin(items_[++at]);
    }
    return {Outcome::GaveUp};
  }

 private:
  int64_t most_bytes(const Item& item) const {
    int64_t most = 0;
    for (int d : item.devices) most = std::max(most, problem_.weight_bytes(item.node, d));
    return most;
  }
  /// Of all devices.
  int64_t room() const {
    int64_t sum = 0;
    for (int64_t r : room_) sum = r > kNoLimit - sum ? kNoLimit : sum + r;
    return sum;
  }
  bool take(int node, int device) {
    const int64_t bytes = problem_.weight_bytes(node, device);
    if (bytes > room_[device]) return false;
    if (problem_.limit(device) != kNoLimit) room_[device] -= bytes;
    return true;
  }
  void give_back(int node) {
    const int device = devices_[node];
    if (device != kNone && problem_.limit(device) != kNoLimit) room_[device] += problem_.weight_bytes(node, device);
  }
  void begin(Item& item) {
    const int wish = wish_[item.node];
    item.next = 0;
    std::ranges::stable_sort(item.devices, std::ranges::greater{},
                             [&](int d) { return d == wish ? kNoLimit : std::min(room_[d], kNoLimit - 1); });
    devices_[item.node] = kNone;
  }

  const Problem& problem_;
  std::vector<int> devices_;
  std::vector<int> wish_ = devices_;
  std::vector<int64_t> room_;
  std::vector<Item> items_;
  std::vector<int64_t> needed_;  ///< bytes, by all items from one on
  bool impossible_ = false;
};

}  // namespace

Partition fit_weights(const Problem& problem, const std::vector<int>& wish) { return Search(problem, wish).run(); }

}  // namespace onnxc::partition
