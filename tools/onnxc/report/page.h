// The HTML pages: each is a single file that loads nothing.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace onnxc {

/// Adds `layout` to each graph of a report: {by, nodes: [[x, y, width, height]], curves: [[x, y, ...]]}, in pixels;
/// see layout.h. Returns a line for the user if there was an obstacle, else "".
std::string add_layouts(nlohmann::ordered_json& report);

/// The page of a report with layouts, and that of two compilations.
std::string report_page(const nlohmann::ordered_json& report);
std::string difference_page(const nlohmann::ordered_json& difference);

}  // namespace onnxc
