#include "tools/onnxc/trace.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "tools/onnxc/blocks.h"

namespace onnxc {
namespace {

using nlohmann::ordered_json;

struct Span {
  uint64_t begin, end;
  int lane;
};

/// What viewers show of a step beside its time.
ordered_json step_arguments(const ordered_json& description, const ordered_json& step, const onnxc_step_ticks& ticks) {
  const auto tensors = [&](const char* which) {
    ordered_json list = ordered_json::array();
    for (const ordered_json& id : step.at(which)) {
      const ordered_json& buffer = description.at("buffers").at(id.get<std::size_t>());
      list.push_back(buffer.at("name").get<std::string>() + " " + buffer.at("type").get<std::string>());
    }
    return list;
  };
  ordered_json nodes = ordered_json::array();
  for (const ordered_json& origin : step.at("origins"))
    nodes.push_back(origin.at("op").get<std::string>() + " " + origin.at("output").get<std::string>());
  return {{"step", step.at("number")},
          {"kernel", step.at("label")},
          {"nodes", nodes},
          {"reads", tensors("reads")},
          {"writes", tensors("writes")},
          {"macs", step.at("macs")},
          {"bytes", step.at("bytes")},
          {"weight_bytes", step.at("weight_bytes")},
          {"predicted_ns", step.at("cost_ns")},
          {"calls", ticks.calls}};
}

}  // namespace

ordered_json trace_run(const onnxc_profile& profile, ModelCall& call, double tick_ns, const ordered_json& description,
                       const std::string& variant) {
  time_block(call, 1);
  profile.reset();
  const uint64_t start = profile.clock();
  time_block(call, 1);
  const uint64_t stop = profile.clock();

  ordered_json events = ordered_json::array();
  const auto microseconds = [&](uint64_t tick) {
    return std::round(static_cast<double>(tick - std::min(tick, start)) * tick_ns) / 1e3;
  };  // whole nanoseconds
  const auto add = [&](const Span& span, const std::string& name, const std::string& category, const ordered_json& arguments) {
    const double begin = microseconds(span.begin), end = microseconds(span.end);
    events.push_back({{"name", name},
                      {"cat", category},
                      {"ph", "X"},
                      {"ts", begin},
                      {"dur", std::max(0.0, end - begin)},
                      {"pid", 1},
                      {"tid", span.lane},
                      {"args", arguments}});
  };
  std::set<int> lanes{0};
  for (int32_t k = 0; k < profile.step_count; ++k) {
    onnxc_step_ticks ticks{};
    profile.read(k, &ticks);
    if (ticks.calls == 0) continue;
    std::vector<Span> spans;
    for (int32_t share = 0; profile.steps[k].shared != 0 && share < profile.part_count; ++share) {
      onnxc_part_ticks of_share{};
      profile.read_part(k, share, &of_share);
      if (of_share.end != 0) spans.push_back({of_share.begin, of_share.end, share});
    }
    if (spans.empty()) spans.push_back({ticks.begin, ticks.end, 0});
    const ordered_json& step = description.at("steps").at(static_cast<std::size_t>(profile.steps[k].number - 1));
    for (const Span& span : spans) {
      lanes.insert(span.lane);
      add(span, step.at("what"), step.at("label"), step_arguments(description, step, ticks));
    }
  }
  const auto named = [](const char* what, int lane, const std::string& name) {
    return ordered_json{{"name", what}, {"ph", "M"}, {"pid", 1}, {"tid", lane}, {"args", {{"name", name}}}};
  };
  events.push_back(named("process_name", 0, variant.empty() ? "one run" : "one run, " + variant));
  for (const int lane : lanes)
    events.push_back(named("thread_name", lane, lane == 0 ? "calling thread" : "thread " + std::to_string(lane)));
  return {{"displayTimeUnit", "ns"},
          {"otherData",
           {{"run_us", microseconds(stop)},
            {"target", description.at("target")},
            {"threads", description.at("threads")},
            {"variant", variant}}},
          {"traceEvents", events}};
}

}  // namespace onnxc
