#include "tools/onnxc/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "compiler/support/closest.h"
#include "compiler/support/error_codes.h"
#include "tools/onnxc/describe.h"
#include "tools/onnxc/terminal.h"

namespace onnxc {
namespace {

using nlohmann::ordered_json;

std::string text(const ordered_json& json) { return json.is_string() ? json.get<std::string>() : json.dump(); }

/// `Conv 'conv1' -> c1`
std::string node_text(const std::string& op, const std::string& name, const std::string& outputs) {
  return one_line(fmt::format("{}{} -> {}", op, name.empty() ? "" : " '" + name + "'", outputs));
}

class Explanation {
 public:
  explicit Explanation(const ordered_json& description) : all_(description), steps_(description.at("steps")) {
    for (const ordered_json& choice : all_.at("choices")) find_step_of(choice);
    for (const ordered_json& node : all_.at("nodes")) {
      if (node.contains("in_floats")) float_reasons_[text(node.at("outputs")[0])] = text(node.at("in_floats"));
    }
  }

  void print_step(const ordered_json& step) const {
    const int number = step.at("number");
    fmt::print("{}\n", styled(Style::Bold, fmt::format("step {}: {}  {}", number, line_of(step.at("label")), line_of(step.at("what")))));
    for (const ordered_json& origin : step.at("origins"))
      fmt::print("  does      {}\n", node_text(text(origin.at("op")), text(origin.at("name")), text(origin.at("output"))));
    for (const ordered_json& origin : step.at("origins")) {
      const auto reason = float_reasons_.find(text(origin.at("output")));
      if (reason != float_reasons_.end())
        fmt::print("  floats    {}: {}\n", node_text(text(origin.at("op")), text(origin.at("name")), text(origin.at("output"))),
                   one_line(reason->second));
    }
    if (step.contains("on_host")) fmt::print("  device    the host: {}\n", one_line(text(step.at("on_host"))));
    else if (all_.contains("device_arena")) fmt::print("  device    {}\n", device_of(step));
    const auto [first, last] = choices_.equal_range(number);
    for (auto choice = first; choice != last; ++choice) print_choice(*choice->second);
    const bool calls_kernel = !step.at("writes").empty() && step.at("label") != "if" && step.at("label") != "loop";
    if (first == last && calls_kernel) fmt::print("  kernel    {}: no other was considered\n", line_of(step.at("label")));
    for (const char* which : {"reads", "writes"}) {
      for (const ordered_json& id : step.at(which)) fmt::print("  {:<8}  {}\n", which, buffer_text(id.get<std::size_t>()));
    }
    if (step.at("macs") != 0 || step.at("bytes") != 0) {
      const double cost = step.at("cost_ns");
      const bool sizes_known = step.at("macs").is_number() && step.at("bytes").is_number();
      fmt::print(
          "  work      {} multiply-adds, {} bytes read and written, {} of weights{}{}\n", line_of(step.at("macs")),
          line_of(step.at("bytes")), line_of(step.at("weight_bytes")),
          cost > 0 ? fmt::format("; predicted {:.2f} us on one thread{}", cost / 1e3, sizes_known ? "" : " at sizes that are assumed") : "",
          step.at("parallel") ? "; threads may share it" : "");
    }
  }

  void print_node(const ordered_json& node) const {
    std::vector<std::string> outputs;
    for (const ordered_json& output : node.at("outputs")) outputs.push_back(text(output));
    fmt::print("{}: ", node_text(text(node.at("op")), text(node.at("name")), fmt::format("{}", fmt::join(outputs, ", "))));
    if (node.contains("in_floats")) fmt::print("in floats, as {}; ", one_line(text(node.at("in_floats"))));
    if (node.contains("on_host")) fmt::print("on the host, as {}; ", one_line(text(node.at("on_host"))));
    const auto& steps = node.at("steps");
    if (steps.empty()) fmt::print("no step; it is computed while compiling, or joined with another node, or nothing needs it\n");
    else if (steps.size() == 1) fmt::print("step {}\n", text(steps[0]));
    else fmt::print("steps {}\n", fmt::join(steps.get<std::vector<int>>(), ", "));
  }

  void print_all() const {
    for (const ordered_json& step : steps_) print_step(step);
    bool first = true;
    for (const ordered_json& node : all_.at("nodes")) {
      if (!node.at("steps").empty()) continue;
      if (first) fmt::print("{}\n", styled(Style::Bold, "nodes without a step"));
      first = false;
      fmt::print("  ");
      print_node(node);
    }
    if (all_.contains("rounded_weights")) fmt::print("{}\n", line_of(all_.at("rounded_weights")));
    if (!all_.at("on_host").empty()) fmt::print("{}\n", styled(Style::Bold, "on the host, although the unit is for a GPU"));
    for (const ordered_json& group : all_.at("on_host")) fmt::print("  {}\n", text_of_group(group));
    if (!all_.at("floats").empty()) fmt::print("{}\n", styled(Style::Bold, "in floats, although the network is quantised"));
    for (const ordered_json& group : all_.at("floats")) fmt::print("  {}\n", text_of_group(group));
  }

  /// Prints what `which` names. Returns false if it names nothing.
  bool print(const std::string& which) const {
    const bool is_number = !which.empty() && which.size() < 9 && std::ranges::all_of(which, [](char c) { return c >= '0' && c <= '9'; });
    std::set<int> numbers;
    bool found = false;
    for (const ordered_json& node : all_.at("nodes")) {
      const auto& outputs = node.at("outputs");
      if (text(node.at("name")) != which && std::ranges::find(outputs, ordered_json(which)) == outputs.end()) continue;
      found = true;
      print_node(node);
      for (const ordered_json& step : node.at("steps")) numbers.insert(step.get<int>());
    }
    if (const int number = is_number && !found ? std::stoi(which) : 0; number >= 1 && number <= static_cast<int>(steps_.size()))
      numbers.insert(number);
    for (const int number : numbers) print_step(steps_.at(static_cast<std::size_t>(number - 1)));
    return found || !numbers.empty();
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const ordered_json& node : all_.at("nodes")) {
      names.push_back(text(node.at("name")));
      for (const ordered_json& output : node.at("outputs")) names.push_back(text(output));
    }
    return names;
  }

 private:
  static const char* device_of(const ordered_json& step) {
    if (step.at("label") == "to_host") return "the GPU, which copies to the host";
    if (step.at("label") == "to_device") return "the host, which copies to the GPU";
    return step.at("device") == "gpu" ? "the GPU" : "the host";
  }

  /// Finds the step of a choice's winner: of the steps that compute its value, the one that calls the kernel.
  void find_step_of(const ordered_json& choice) {
    const ordered_json& winner = choice.at("candidates").at(choice.at("winner").get<std::size_t>()).at("kernel");
    int found = 0;
    for (const ordered_json& step : steps_) {
      if (step.at("value") != choice.at("value")) continue;
      if (step.at("label") == winner) {
        found = step.at("number");
        break;
      }
      if (found == 0) found = step.at("number");
    }
    choices_.emplace(found, &choice);
  }

  static void print_choice(const ordered_json& choice) {
    const auto& candidates = choice.at("candidates");
    const auto winner = choice.at("winner").get<std::size_t>();
    const auto cost = [&](std::size_t i) { return candidates[i].at("cost_ns").get<double>(); };
    std::vector<std::size_t> order(candidates.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, cost);
    const bool tuned = candidates[winner].contains("predicted_ns");
    const double lowest = std::max(cost(order[0]), 1e-9);
    std::size_t kernel = winner;  // with weights as floats, by which kernels are chosen
    while (candidates[kernel].value("narrow", false)) --kernel;
    std::vector<double> kernels;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (!candidates[i].value("narrow", false)) kernels.push_back(cost(i));
    }
    std::string why = kernels.size() == 1 ? "the only kernel for it"
                      : cost(kernel) <= *std::ranges::min_element(kernels)
                          ? fmt::format("the {} of {}", tuned ? "quickest, as --tune has it," : "cheapest", kernels.size())
                          : "a cheaper one's weights are too large together with others': --weights-growth allows more";
    if (kernel != winner) why += "; its weights are stored narrower, with the same results";
    const auto label = [&](std::size_t i) {
      const std::string note = line_of(candidates[i].at("note"));
      return line_of(candidates[i].at("kernel")) + (note.empty() ? "" : ", " + note);
    };
    fmt::print("  kernel    {}: {}\n", label(winner), why);
    for (const std::size_t i : order) {
      if (candidates.size() == 1) break;
      const int64_t growth = candidates[i].at("growth");
      fmt::print("            {} {:<28} {:>12.2f} us  {:>7}{}{}\n", i == winner ? "*" : " ", label(i), cost(i) / 1e3,
                 fmt::format("{:.2f}x", cost(i) / lowest),
                 tuned ? fmt::format("  predicted {:.2f} us", candidates[i].at("predicted_ns").get<double>() / 1e3) : "",
                 growth > 0   ? fmt::format("  weights larger by {} bytes", growth)
                 : growth < 0 ? fmt::format("  smaller by {} bytes", -growth)
                              : "");
    }
  }

  /// The region of a constant, if it lies in one.
  std::string weights_region(const ordered_json& buffer) const {
    return all_.at("weights").at(buffer.at("index").get<std::size_t>()).value("region", std::string());
  }

  std::string buffer_text(std::size_t id) const {
    const ordered_json& buffer = all_.at("buffers").at(id);
    std::string where = (buffer.at("device") == "gpu" ? "GPU's " : "") + text(buffer.at("place"));
    if (buffer.contains("parent"))
      where = fmt::format("inside of '{}' from byte {} on",
                          line_of(all_.at("buffers").at(buffer.at("parent").get<std::size_t>()).at("name")), line_of(buffer.at("offset")));
    else if (buffer.contains("offset"))
      where +=
          fmt::format("{} at {}", buffer.contains("region") ? " in " + line_of(buffer.at("region")) : "", line_of(buffer.at("offset")));
    else if (buffer.at("place") == "weights" && weights_region(buffer) != "") where += " in " + weights_region(buffer);
    std::string layout = buffer.contains("pixel_stride")
                             ? fmt::format(", channels last, a pixel every {} elements", line_of(buffer.at("pixel_stride")))
                             : "";
    if (buffer.contains("first"))
      layout += fmt::format(", live from step {} to {}", buffer.at("first").get<int>() + 1, buffer.at("last").get<int>());
    return fmt::format("{} {}: {}, {} bytes{}", line_of(buffer.at("name")), line_of(buffer.at("type")), where, line_of(buffer.at("bytes")),
                       layout);
  }

  const ordered_json& all_;
  const ordered_json& steps_;
  std::map<std::string, std::string> float_reasons_;  ///< by the first output of a node
  std::multimap<int, const ordered_json*> choices_;   ///< by the number of the step; 0 if there is none
};

}  // namespace

int explain_command(const std::filesystem::path& model, const std::string& which, const CompileOptions& options) {
  const ordered_json description = describe(compile_described(model, options), options);
  const Explanation explanation(description);
  if (which.empty()) {
    explanation.print_all();
  } else if (!explanation.print(which)) {
    const std::string closest = closest_text(which, explanation.names());
    throw Error(ErrorCode::NoSuchValue, fmt::format("'{}' is no node, no value and no step of the model", one_line(which)),
                closest.empty() ? fmt::format("steps are 1 to {}", description.at("steps").size()) : closest);
  }
  return 0;
}

void print_device_costs(const DeviceCosts& costs) {
  const auto us = [](double ns) { return std::isinf(ns) ? std::string("no kernel") : fmt::format("{:.2f} us", ns / 1e3); };
  fmt::print("{}\n  {:>14} {:>14}\n", styled(Style::Bold, "nodes, predicted"), "on the host", "on the GPU");
  for (const DeviceCosts::OfNode& node : costs.nodes)
    fmt::print("  {:>13}{} {:>13}{} {}\n", us(node.host_ns), node.device == Device::Cpu ? "*" : " ", us(node.gpu_ns),
               node.device == Device::Gpu ? "*" : " ", one_line(node.node));
  for (const DeviceCosts::Transfer& t : costs.transfers)
    fmt::print("  {:>28}  '{}' to the {}\n", us(t.ns), one_line(t.value), t.to == Device::Gpu ? "GPU" : "host");
  fmt::print("  {} as chosen (*); {} all on the host; {} all that can be on the GPU\n", us(costs.chosen_ns), us(costs.host_ns),
             us(costs.gpu_ns));
}

void print_devices(const Program& program) {
  const std::vector<std::string> reasons = host_reasons_of_steps(program);
  for_each_step(program.steps, [&](const Step& step, int number) {
    const std::string& reason = reasons[static_cast<std::size_t>(number)];
    const Call* const call = step.call();
    if (!reason.empty()) fmt::print("{}\n    on the host: {}\n", one_line(step.what), one_line(reason));
    else if (call != nullptr && call->device == Device::Gpu) fmt::print("{}\n    on the GPU\n", one_line(step.what));
  });
  if (program.device_costs) print_device_costs(*program.device_costs);
}

void print_choices(const std::vector<Choice>& choices) {
  for (const Choice& c : choices) {
    fmt::print("{}\n", c.node);
    for (std::size_t i = 0; i < c.candidates.size(); ++i)
      fmt::print("    {:<24} {:>14.0f} ns{}\n", c.candidates[i].kernel + (c.candidates[i].note.empty() ? "" : ", " + c.candidates[i].note),
                 c.candidates[i].cost_ns, i == c.winner ? "  <--" : "");
  }
}

}  // namespace onnxc
