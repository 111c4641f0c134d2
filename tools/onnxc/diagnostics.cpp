#include "tools/onnxc/diagnostics.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "tools/onnxc/refusals.h"

namespace onnxc {
namespace {

using Json = nlohmann::ordered_json;

const char* kind_name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::Invalid: return "invalid";
    case ErrorKind::Unsupported: return "unsupported";
    case ErrorKind::Usage: return "usage";
    case ErrorKind::Io: return "io";
    case ErrorKind::Budget: return "budget";
    case ErrorKind::Internal: break;
  }
  return "internal";
}

Json as_json(const Error& error, const std::string& model) {
  Json errors = Json::array();
  for (const Diagnostic& d : error.diagnostics()) {
    Json one{{"code", text(d.code)}, {"kind", kind_name(error.kind())}, {"exit_code", error.exit_code()}};
    if (error.kind() != ErrorKind::Usage) one["file"] = model;
    for (const auto& [name, said] : {std::pair("node", &d.node), {"op", &d.op}, {"found", &d.found}, {"remedy", &d.remedy}}) {
      if (!said->empty()) one[name] = *said;
    }
    errors.push_back(std::move(one));
  }
  return {{"errors", std::move(errors)}};
}

/// A path as a reference of RFC 3986.
std::string uri_of(const std::string& path) {
  std::string uri;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("/-._~").find(c) != std::string_view::npos;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return uri;
}

Json as_sarif(const Error& error, const std::string& model) {
  Json results = Json::array(), rules = Json::array();
  std::set<ErrorCode> ruled;
  for (const Diagnostic& d : error.diagnostics()) {
    Json location = Json::object();
    if (!model.empty() && error.kind() != ErrorKind::Usage) location["physicalLocation"] = {{"artifactLocation", {{"uri", uri_of(model)}}}};
    if (!d.node.empty()) location["logicalLocations"] = Json::array({{{"name", d.node}, {"kind", "element"}}});
    Json one{{"ruleId", text(d.code)}, {"level", "error"}, {"message", {{"text", d.text()}}}};
    if (!location.empty()) one["locations"] = Json::array({std::move(location)});
    results.push_back(std::move(one));
    if (!ruled.insert(d.code).second) continue;
    const std::string page = text(d.code) + ".md";
    rules.push_back({{"id", text(d.code)},
                     {"name", kind_name(error.kind())},
                     {"shortDescription", {{"text", refusal_title(refusal_page(page))}}},
                     {"help", {{"text", refusal_page(page)}, {"markdown", refusal_page(page)}}}});
  }
  const Json driver{{"name", "onnxc"}, {"version", ONNXC_VERSION}, {"rules", std::move(rules)}};
  return {{"version", "2.1.0"}, {"runs", Json::array({{{"tool", {{"driver", driver}}}, {"results", std::move(results)}}})}};
}

}  // namespace

std::string diagnostics_text(const Error& error, const std::string& model, const std::string& form) {
  // Names in a model need not be UTF-8.
  return (form == "sarif" ? as_sarif(error, model) : as_json(error, model)).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void report(const Error& error, const std::string& model) {
  // Earlier output precedes the error if both go to one file.
  std::fflush(stdout);
  if (diagnostic_form() != "text") {
    std::fputs(diagnostics_text(error, model, diagnostic_form()).c_str(), stderr);
    return;
  }
  const bool colour = isatty(STDERR_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  for (const Diagnostic& d : error.diagnostics()) {
    fmt::print(stderr, "onnxc: {}error[{}]:{} ", colour ? "\033[1;31m" : "", text(d.code), colour ? "\033[0m" : "");
    if (error.kind() != ErrorKind::Usage) fmt::print(stderr, "{}: ", one_line(model));
    fmt::print(stderr, "{}\n", d.text());
  }
}

}  // namespace onnxc
