#include "tools/onnxc/report/layout.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <optional>
#include <sstream>

#include "compiler/support/error.h"
#include "tools/driver/files.h"
#include "tools/driver/process.h"
#include "tools/driver/temporary_folder.h"

namespace onnxc {
namespace {

namespace fs = std::filesystem;

constexpr double kPoints = 72;               // in an inch, dot's unit
constexpr double kSeconds = 20;              // the time limit for dot
constexpr std::size_t kMostForDot = 2000;    // edges; for more, dot can take minutes
constexpr std::size_t kMostForCurves = 800;  // edges; for more, routing takes most of the time

/// Nodes have numbers for names, so nothing of a model reaches dot. The limits on its iterations hardly affect the
/// picture; without them, dot can be very slow for some hundred nodes.
std::string dot_text(const Diagram& diagram) {
  const char* splines = diagram.edges.size() > kMostForCurves ? "line" : "true";
  std::string text =
      fmt::format("digraph {{\ngraph [rankdir=TB nodesep=0.28 ranksep=0.38 nslimit=2 nslimit1=2 mclimit=0.5 splines={}]\n", splines);
  text += "node [shape=box fixedsize=true label=\"\"]\nedge [arrowhead=none]\n";
  for (std::size_t i = 0; i < diagram.sizes.size(); ++i)
    text += fmt::format("{} [width={:.3f} height={:.3f}]\n", i, diagram.sizes[i].x / kPoints, diagram.sizes[i].y / kPoints);
  for (const auto& [from, to] : diagram.edges) text += fmt::format("{} -> {}\n", from, to);
  return text + "}\n";
}

/// Reads -Tplain: `graph SCALE WIDTH HEIGHT`, `node NAME X Y ...`, `edge TAIL HEAD N X1 Y1 ... `, with y upwards.
/// Empty if it is anything else.
std::optional<DiagramLayout> read_plain(const Diagram& diagram, const std::string& plain) {
  DiagramLayout layout{std::vector<Point>(diagram.sizes.size()), std::vector<std::vector<Point>>(diagram.edges.size()), "dot", ""};
  std::map<std::pair<int, int>, std::size_t> edges;
  for (std::size_t i = 0; i < diagram.edges.size(); ++i) edges.emplace(diagram.edges[i], i);
  double height = 0;
  std::size_t placed = 0;
  std::istringstream lines(plain);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string what;
    words >> what;
    const auto point = [&] {
      double x = 0, y = 0;
      words >> x >> y;
      return Point{x * kPoints, (height - y) * kPoints};
    };
    if (what == "graph") {
      double scale = 0, width = 0;
      words >> scale >> width >> height;
    } else if (what == "node") {
      std::size_t node = 0;
      words >> node;
      if (node >= layout.centres.size()) return std::nullopt;
      layout.centres[node] = point();
      ++placed;
    } else if (what == "edge") {
      int from = 0, to = 0, count = 0;
      words >> from >> to >> count;
      const auto edge = edges.find({from, to});
      if (edge == edges.end() || count < 4) return std::nullopt;
      auto& curve = layout.curves[edge->second];
      for (int i = 0; i < count; ++i) curve.push_back(point());
    }
    if (!words && what != "stop") return std::nullopt;
  }
  if (placed != diagram.sizes.size()) return std::nullopt;
  return layout;
}

std::optional<DiagramLayout> lay_out_with_dot(const Diagram& diagram, std::string& remark) {
  if (diagram.edges.size() > kMostForDot) return std::nullopt;  // no remark: nothing is missing
  const TemporaryFolder scratch;
  const fs::path source = scratch.path() / "graph.dot", plain = scratch.path() / "graph.plain";
  write_file(source, dot_text(diagram));
  try {
    const ProcessResult result = run_process({"dot", "-Tplain", "-o", plain.string(), source.string()}, kSeconds);
    if (result.timed_out) {
      remark = fmt::format("dot did not lay {} nodes out in {} s; they are drawn in plain layers", diagram.sizes.size(), kSeconds);
      return std::nullopt;
    }
    if (result.ok()) {
      if (std::optional<DiagramLayout> layout = read_plain(diagram, read_file(plain))) return layout;
    }
    remark = "dot failed; graphs are drawn in plain layers";
  } catch (const Error&) {  // it cannot be started
    remark = "dot is not installed; graphs are drawn in plain layers (Debian's package graphviz has it)";
  }
  return std::nullopt;
}

}  // namespace

DiagramLayout lay_out(const Diagram& diagram) {
  std::string remark;
  if (std::optional<DiagramLayout> layout = lay_out_with_dot(diagram, remark)) return std::move(*layout);
  DiagramLayout layout = lay_out_in_layers(diagram);
  layout.remark = remark;
  return layout;
}

}  // namespace onnxc
