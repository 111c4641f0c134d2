#include "tools/onnxc/diagnostics.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

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

const char* kind_text(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::Invalid: return "The model is not valid ONNX";
    case ErrorKind::Unsupported: return "The model is valid ONNX that onnxc cannot compile yet";
    case ErrorKind::Usage: return "The command line is wrong";
    case ErrorKind::Io: return "A file cannot be read or written";
    case ErrorKind::Budget: return "A limit is exceeded";
    case ErrorKind::Internal: break;
  }
  return "A bug in onnxc";
}

Json as_json(const Error& error, const std::string& model) {
  Json errors = Json::array();
  for (const Diagnostic& d : error.diagnostics()) {
    Json one{{"kind", kind_name(error.kind())}, {"exit_code", error.exit_code()}};
    if (error.kind() != ErrorKind::Usage) one["file"] = model;
    for (const auto& [name, text] : {std::pair("node", &d.node), {"op", &d.op}, {"found", &d.found}, {"remedy", &d.remedy}}) {
      if (!text->empty()) one[name] = *text;
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
  Json results = Json::array();
  for (const Diagnostic& d : error.diagnostics()) {
    Json location = Json::object();
    if (!model.empty() && error.kind() != ErrorKind::Usage) location["physicalLocation"] = {{"artifactLocation", {{"uri", uri_of(model)}}}};
    if (!d.node.empty()) location["logicalLocations"] = Json::array({{{"name", d.node}, {"kind", "element"}}});
    Json one{{"ruleId", kind_name(error.kind())}, {"level", "error"}, {"message", {{"text", d.text()}}}};
    if (!location.empty()) one["locations"] = Json::array({std::move(location)});
    results.push_back(std::move(one));
  }
  const Json rule{{"id", kind_name(error.kind())}, {"shortDescription", {{"text", kind_text(error.kind())}}}};
  const Json driver{{"name", "onnxc"}, {"version", ONNXC_VERSION}, {"rules", Json::array({rule})}};
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
    fmt::print(stderr, "onnxc: {}error:{} ", colour ? "\033[1;31m" : "", colour ? "\033[0m" : "");
    if (error.kind() != ErrorKind::Usage) fmt::print(stderr, "{}: ", one_line(model));
    fmt::print(stderr, "{}\n", d.text());
  }
}

}  // namespace onnxc
