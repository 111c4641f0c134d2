// Which device does each node: the problem, as numbers alone. What a node computes, and how costs were found, is the caller's to know.
#pragma once
#include <cstdint>
#include <limits>
#include <vector>

namespace onnxc::partition {

/// The device on which callers have their data. Where several choices cost the same, more of the work stays there.
constexpr int kHost = 0;
constexpr int kNone = -1;
constexpr int kMostDevices = 16;  // a set of devices is a uint16_t
constexpr double kNoKernel = std::numeric_limits<double>::infinity();
constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

struct Node {
  std::vector<double> cost_ns;  ///< on each device, >= 0; kNoKernel where it cannot run
  std::vector<int64_t>
      weight_bytes;    ///< that a device holds if it runs the node, >= 0; empty: none. Nodes that read the same weights count them each
  int island = kNone;  ///< nodes that name the same island, a number from 0 on, run on the same device
  int fixed = kNone;   ///< the only device that may run it
};

/// What nodes pass on. It is sent once to each device that needs it and did not make it, always from where it was made.
struct Value {
  int producer = kNone;             ///< a node; kNone: the caller gives the value
  int place = kHost;                ///< where the caller gives it
  std::vector<int> readers;         ///< nodes, all of them behind the producer
  std::vector<int> wanted;          ///< devices that need it whoever reads it: where the caller takes a result
  std::vector<double> transfer_ns;  ///< from device a to device b: [a * devices + b], >= 0 and finite
};

struct Problem {
  int devices = 2;
  std::vector<Node> nodes;      ///< in topological order
  std::vector<Value> values;    ///< of which no two are the same
  std::vector<int64_t> limits;  ///< bytes of weights that each device has room for; empty: no limits

  double transfer_ns(const Value& value, int from, int to) const { return value.transfer_ns[from * devices + to]; }
  int64_t weight_bytes(int node, int device) const { return nodes[node].weight_bytes.empty() ? 0 : nodes[node].weight_bytes[device]; }
  int64_t limit(int device) const { return limits.empty() ? kNoLimit : limits[device]; }
  /// Whether the node has a kernel on the device and is not fixed to another.
  bool may_run(int node, int device) const {
    return nodes[node].cost_ns[device] < kNoKernel && (nodes[node].fixed == kNone || nodes[node].fixed == device);
  }
};

enum class Outcome {
  Found,
  NoDevice,  ///< a node, or the island that it belongs to, can run nowhere
  NoRoom,    ///< the weights fit in no way
  GaveUp     ///< whether the weights fit at all was not found out; this takes limits on two devices that are both nearly full
};

struct Partition {
  Outcome outcome = Outcome::Found;
  int culprit = kNone;         ///< with NoDevice: the first node of such an island
  std::vector<int> devices{};  ///< of each node, with Found
  double cost_ns = 0;          ///< compute and transfers
  double bound_ns = 0;         ///< no partition costs less; 0 where nothing was proved
};

/// ONNXC_CHECKs what is written above.
void check_problem(const Problem& problem);

/// Sum of all costs and transfers; infinite if a node runs where it may not.
double cost_ns(const Problem& problem, const std::vector<int>& devices);

/// Bytes of weights on each device.
std::vector<int64_t> weight_bytes(const Problem& problem, const std::vector<int>& devices);
bool fits(const Problem& problem, const std::vector<int>& devices);

}  // namespace onnxc::partition
