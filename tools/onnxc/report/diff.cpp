#include "tools/onnxc/report/diff.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/support/error.h"
#include "compiler/support/error_codes.h"

namespace onnxc {
namespace {

using nlohmann::ordered_json;
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

ordered_json trimmed(const ordered_json& step) {
  ordered_json json;
  for (const char* member : {"number", "label", "what", "value", "macs", "bytes", "weight_bytes", "cost_ns"})
    json[member] = step.at(member);
  return json;
}

std::vector<ordered_json> steps_of(const ordered_json& description) {
  std::vector<ordered_json> steps;
  for (const ordered_json& step : description.at("steps")) steps.push_back(trimmed(step));
  if (const auto profile = description.find("profile"); profile != description.end()) {
    for (const ordered_json& measured : profile->at("steps"))
      steps.at(measured.at("number").get<std::size_t>() - 1)["measured_ns"] = measured.at("mean_ns");
  }
  return steps;
}

ordered_json summary_of(const ordered_json& description) {
  ordered_json json;
  for (const char* member : {"model", "options", "target", "threads", "totals", "arena"}) json[member] = description.at(member);
  json["steps"] = description.at("steps").size();
  return json;
}

/// For each step of `b` its counterpart in `a`, or kNone.
std::vector<std::size_t> match(const std::vector<ordered_json>& a, const std::vector<ordered_json>& b) {
  std::vector<std::size_t> counterpart(b.size(), kNone);
  std::vector<bool> taken(a.size(), false);
  for (const bool same_kernel : {true, false}) {
    std::map<std::string, std::vector<std::size_t>> open;  // of `a`, the last first
    const auto key = [&](const ordered_json& step) {
      const auto value = step["value"].get<std::string>();
      return same_kernel ? step["label"].get<std::string>() + '\n' + value : value;
    };
    for (std::size_t i = a.size(); i-- > 0;) {
      if (!taken[i] && a[i]["value"] != "") open[key(a[i])].push_back(i);
    }
    for (std::size_t i = 0; i < b.size(); ++i) {
      if (counterpart[i] != kNone) continue;
      const auto found = open.find(key(b[i]));
      if (found == open.end() || found->second.empty()) continue;
      counterpart[i] = found->second.back();
      found->second.pop_back();
      taken[counterpart[i]] = true;
    }
  }
  return counterpart;
}

}  // namespace

ordered_json compare_descriptions(const ordered_json& a, const ordered_json& b) {
  try {
    const std::vector<ordered_json> left = steps_of(a), right = steps_of(b);
    const std::vector<std::size_t> counterpart = match(left, right);
    std::vector<std::size_t> row_of(left.size(), kNone);  // the step of `b` beside it
    for (std::size_t i = 0; i < right.size(); ++i) {
      if (counterpart[i] != kNone) row_of[counterpart[i]] = i;
    }
    ordered_json rows = ordered_json::array();
    // Adds steps that only `a` has, from there to the next one that both have.
    const auto add_alone = [&](std::size_t from) {
      for (std::size_t i = from; i < left.size() && row_of[i] == kNone; ++i) rows.push_back({{"a", left[i]}, {"b", nullptr}});
    };
    add_alone(0);
    for (std::size_t i = 0; i < right.size(); ++i) {
      rows.push_back({{"a", counterpart[i] == kNone ? ordered_json() : left[counterpart[i]]}, {"b", right[i]}});
      if (counterpart[i] != kNone) add_alone(counterpart[i] + 1);
    }
    return {{"onnxc", ONNXC_VERSION}, {"kind", "difference"}, {"a", summary_of(a)}, {"b", summary_of(b)}, {"rows", std::move(rows)}};
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorCode::NotADescription, "a description lacks what a comparison needs", "write both anew with onnxc report --json");
  } catch (const std::out_of_range&) {
    throw Error(ErrorCode::NotADescription, "a description has times of steps that it lacks", "write it anew with onnxc report --json");
  }
}

}  // namespace onnxc
