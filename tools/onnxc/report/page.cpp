#include "tools/onnxc/report/page.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string_view>

#include "tools/onnxc/report/layout.h"
#include "tools/onnxc/report/viewer.h"

namespace onnxc {
namespace {

using nlohmann::ordered_json;

/// JSON for the inside of a script element. HTML's parser looks for `</script` and `<!--`, so no `<` may occur.
std::string embedded(const ordered_json& data) {
  std::string text;
  for (const char c : data.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)) {
    if (c == '<') text += "\\u003c";
    else text += c;
  }
  return text;
}

/// Replaces `{{name}}` in page.html, which occurs once, by the text.
void fill(std::string& page, std::string_view name, std::string_view text) {
  const std::string placeholder = "{{" + std::string(name) + "}}";
  page.replace(page.find(placeholder), placeholder.size(), text);
}

std::string make_page(const ordered_json& data, std::initializer_list<std::string_view> scripts) {
  std::string page(viewer_file("page.html")), code;
  for (std::string_view name : scripts) code += viewer_file(name);
  fill(page, "style", viewer_file("style.css"));
  fill(page, "code", code);
  fill(page, "data", embedded(data));  // last, so that its content is not searched
  return page;
}

/// Room for the longer of two lines in the viewer's font, within limits.
Point box_size(const ordered_json& node) {
  const auto characters = [](const std::string& text) {
    return static_cast<double>(std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
  };
  const double width = std::max(7.4 * characters(node["title"]), 6.1 * characters(node["subtitle"])) + 18;
  return {std::clamp(std::round(width), 64.0, 210.0), node["subtitle"] == "" ? 24.0 : 38.0};
}

std::string add_layout(ordered_json& graph) {
  Diagram diagram;
  for (const ordered_json& node : graph["nodes"]) diagram.sizes.push_back(box_size(node));
  for (const ordered_json& edge : graph["edges"]) diagram.edges.emplace_back(edge[0], edge[1]);
  const DiagramLayout layout = lay_out(diagram);
  const auto pixel = [](double v) { return static_cast<int64_t>(std::llround(v)); };
  ordered_json nodes = ordered_json::array(), curves = ordered_json::array();
  for (std::size_t i = 0; i < diagram.sizes.size(); ++i)
    nodes.push_back({pixel(layout.centres[i].x), pixel(layout.centres[i].y), pixel(diagram.sizes[i].x), pixel(diagram.sizes[i].y)});
  for (const auto& curve : layout.curves) {
    ordered_json flat = ordered_json::array();
    for (const Point& p : curve) {
      flat.push_back(pixel(p.x));
      flat.push_back(pixel(p.y));
    }
    curves.push_back(std::move(flat));
  }
  graph["layout"] = {{"by", layout.by}, {"nodes", std::move(nodes)}, {"curves", std::move(curves)}};
  return layout.remark;
}

}  // namespace

std::string add_layouts(ordered_json& report) {
  std::string remark;
  for (const char* name : {"model", "steps"}) {
    if (const std::string one = add_layout(report["graphs"][name]); !one.empty()) remark = one;
  }
  return remark;
}

std::string report_page(const ordered_json& report) {
  return make_page(report, {"base.js", "table.js", "drawing.js", "canvas.js", "graph.js", "details.js", "passes.js", "memory.js",
                            "layers.js", "weights.js", "floats.js", "report.js"});
}

std::string difference_page(const ordered_json& difference) { return make_page(difference, {"base.js", "table.js", "difference.js"}); }

}  // namespace onnxc
