// Progress, summary and the report file.
#pragma once
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/conformance/result.h"

namespace onnxc {

struct Tally {
  int passed = 0, failed = 0, unsupported = 0;
  int total() const { return passed + failed + unsupported; }
  void add(Verdict verdict);
};

Tally count(const std::vector<CaseResult>& results);

/// One line that is rewritten on a terminal; elsewhere a line each minute.
class Progress {
 public:
  explicit Progress(int total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void add(const CaseResult& result);

 private:
  int total_;
  bool on_terminal_;
  Tally tally_;
  static constexpr std::chrono::seconds kSilence{60};
  std::chrono::steady_clock::time_point said_ = std::chrono::steady_clock::now();
};

/// Prints failures, one line each, and the reasons of unsupported cases with their numbers; with `by_operator` also a
/// table of operators. In colour on a terminal.
void print_details(const std::vector<CaseResult>& results, bool by_operator);

/// `node: 1884 passed, 0 failed, 0 unsupported of 1884`
std::string summary_line(const std::string& name, const Tally& tally);

/// {"cases": [{"suite", "name", "operators", "opsets", "elements", "kernels", "result", "reason", "compile_seconds", "host_reasons"}, …], "suites": {…}}
void write_report(const std::filesystem::path& path, const std::vector<CaseResult>& results);

}  // namespace onnxc
