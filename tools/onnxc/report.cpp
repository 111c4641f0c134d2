#include "tools/onnxc/report.h"

#include <fmt/format.h>

#include "compiler/support/error_codes.h"
#include "tools/driver/files.h"
#include "tools/driver/json_text.h"
#include "tools/onnxc/report/data.h"
#include "tools/onnxc/report/diff.h"
#include "tools/onnxc/report/page.h"

namespace onnxc {
namespace {

using nlohmann::ordered_json;

/// A saved description, or that of a model.
ordered_json description_of(const std::filesystem::path& path, const CompileOptions& options) {
  if (std::optional<ordered_json> saved = read_description(path)) return std::move(*saved);
  return report_data(path, options);
}

/// The second of two descriptions. Its errors state that they do not concern the first, whose name the command prints
/// before them.
ordered_json description_of_other(const std::filesystem::path& path, const CompileOptions& options) {
  try {
    return description_of(path, options);
  } catch (const Error& error) {
    std::vector<Diagnostic> diagnostics;
    for (const Diagnostic& d : error.diagnostics())
      diagnostics.push_back({"", "", fmt::format("compared with {}: {}", one_line(path.string()), d.text()), "", d.code});
    throw Error(error.kind(), std::move(diagnostics));
  }
}

/// The last that a command does.
int write_all(const ReportOptions& options, const std::string& json, const std::string& page) {
  NewFiles files;
  if (options.json) files.add(*options.json, json);
  if (options.output) files.add(*options.output, page);
  files.commit();
  return 0;
}

}  // namespace

int report_command(const ReportOptions& options) {
  if (!options.output && !options.json)
    throw Error(ErrorCode::MissingOption, "-o report.html or --json FILE is missing", "say where to write the report");
  if (options.other) {
    if (options.profile)
      throw Error(ErrorCode::OptionConflict, "--profile belongs to one model",
                  "give it to onnxc report --json, and compare what that writes");
    ordered_json data =
        compare_descriptions(description_of(options.model, options.compile), description_of_other(*options.other, options.compile));
    const std::string json = options.json ? json_text(data) : "", page = options.output ? difference_page(data) : "";
    data = nullptr;  // which takes memory, and could fail
    return write_all(options, json, page);
  }
  ordered_json data;
  if (options.profile) {
    ordered_json profile = read_profile(*options.profile);
    data = report_data(options.model, options_of_profile(options.compile, profile));
    check_profile(profile, data["steps"]);
    data["profile"] = std::move(profile);
  } else {
    data = report_data(options.model, options.compile);
  }
  const std::string json = options.json ? json_text(data) : "";  // before the page's data is added
  std::string page;
  if (options.output) {
    if (const std::string remark = add_layouts(data); !remark.empty()) fmt::print(stderr, "onnxc: {}\n", remark);
    page = report_page(data);
  }
  data = nullptr;  // which takes memory, and could fail
  return write_all(options, json, page);
}

}  // namespace onnxc
