#include "tools/conformance/report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "tools/driver/files.h"
#include "tools/driver/json_text.h"

namespace onnxc {
namespace {

bool is_terminal() { return isatty(STDOUT_FILENO) != 0; }

std::string colored(const char* code, const std::string& text) {
  return is_terminal() ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
}

const char* word(Verdict verdict) {
  switch (verdict) {
    case Verdict::Passed: return "passed";
    case Verdict::Failed: return "failed";
    case Verdict::Unsupported: return "unsupported";
  }
  return "";
}

/// One line of limited length.
std::string one_line(std::string text, std::size_t limit) {
  std::ranges::replace(text, '\n', ' ');
  return text.size() > limit ? text.substr(0, limit) + "..." : text;
}

/// A reason without the names of nodes and values, which differ from case to case.
std::string kind_of(const std::string& reason) {
  static const std::regex name(" '[^']*'");
  return std::regex_replace(one_line(reason, 400), name, "");
}

}  // namespace

void Tally::add(Verdict verdict) {
  passed += verdict == Verdict::Passed;
  failed += verdict == Verdict::Failed;
  unsupported += verdict == Verdict::Unsupported;
}

Tally count(const std::vector<CaseResult>& results) {
  Tally tally;
  for (const CaseResult& result : results) tally.add(result.verdict);
  return tally;
}

Progress::Progress(int total) : total_(total), on_terminal_(is_terminal()) {}

Progress::~Progress() {
  if (on_terminal_) std::fputs("\r\033[K", stdout);  // which throws nothing
}

void Progress::add(const CaseResult& result) {
  tally_.add(result.verdict);
  const auto now = std::chrono::steady_clock::now();
  if (!on_terminal_ && now - said_ < kSilence) return;
  said_ = now;
  fmt::print("{}{} of {}: {} passed, {} failed, {} unsupported{}", on_terminal_ ? "\r\033[K" : "", tally_.total(), total_, tally_.passed,
             tally_.failed, tally_.unsupported, on_terminal_ ? "" : "\n");
  std::fflush(stdout);
}

void print_details(const std::vector<CaseResult>& results, bool by_operator) {
  std::map<std::string, int> reasons;
  std::map<std::string, Tally> operators;
  for (const CaseResult& result : results) {
    if (result.verdict == Verdict::Failed)
      fmt::print("{} {}/{}: {}\n", colored("31", "failed"), result.suite, result.name, one_line(result.reason, 400));
    if (result.verdict == Verdict::Unsupported) ++reasons[kind_of(result.reason)];
    for (const std::string& op : result.operators) operators[op].add(result.verdict);
  }
  std::vector<std::pair<int, std::string>> by_count;
  for (const auto& [reason, number] : reasons) by_count.emplace_back(-number, reason);
  std::ranges::sort(by_count);
  constexpr std::size_t kMostReasons = 25;
  for (std::size_t i = 0; i < std::min(kMostReasons, by_count.size()); ++i) {
    fmt::print("{} {} x {}\n", colored("33", "unsupported"), -by_count[i].first, by_count[i].second);
  }
  if (by_count.size() > kMostReasons) fmt::print("{} {} more reasons\n", colored("33", "unsupported"), by_count.size() - kMostReasons);
  if (!by_operator) return;
  fmt::print("{:<40} {:>7} {:>7} {:>11}\n", "operator", "passed", "failed", "unsupported");
  for (const auto& [op, tally] : operators) fmt::print("{:<40} {:>7} {:>7} {:>11}\n", op, tally.passed, tally.failed, tally.unsupported);
}

std::string summary_line(const std::string& name, const Tally& tally) {
  return fmt::format("{}: {} passed, {} failed, {} unsupported of {}", name, tally.passed, tally.failed, tally.unsupported, tally.total());
}

void write_report(const std::filesystem::path& path, const std::vector<CaseResult>& results) {
  nlohmann::ordered_json report;
  std::map<std::string, Tally> suites;
  for (const CaseResult& result : results) suites[result.suite].add(result.verdict);
  for (const auto& [name, tally] : suites) {
    report["suites"][name] = {
        {"passed", tally.passed}, {"failed", tally.failed}, {"unsupported", tally.unsupported}, {"total", tally.total()}};
  }
  report["cases"] = nlohmann::ordered_json::array();
  for (const CaseResult& result : results) {
    report["cases"].push_back({{"suite", result.suite},
                               {"name", result.name},
                               {"result", word(result.verdict)},
                               {"reason", result.reason},
                               {"operators", result.operators},
                               {"opsets", result.opsets},
                               {"elements", result.elements},
                               {"kernels", result.kernels},
                               {"compile_seconds", result.compile_seconds}});
    if (!result.host_reasons.empty()) report["cases"].back()["host_reasons"] = result.host_reasons;
  }
  write_file(path, json_text(report));
}

}  // namespace onnxc
