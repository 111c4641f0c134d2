// Two compilations side by side.
#pragma once
#include <nlohmann/json.hpp>

namespace onnxc {

/// {onnxc, kind: "difference", a, b: the descriptions without lists and graphs, rows: [{a, b}]}
///
/// A row is a step of one program and its counterpart in the other, as {number, label, what, value, macs, bytes,
/// weight_bytes, cost_ns, measured_ns}, or null. Counterparts compute the same value; of several steps for a value
/// those that call the same kernel, or else in their order. Rows are in the order of `b`; a step that only `a` has
/// follows its predecessor. Throws Error{Usage} if `a` or `b` is no description.
nlohmann::ordered_json compare_descriptions(const nlohmann::ordered_json& a, const nlohmann::ordered_json& b);

}  // namespace onnxc
