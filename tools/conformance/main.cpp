// conformance SUITE_OR_DIR … : does emitted code give the answers that ONNX's tests expect?
//
// Each model is compiled with onnxc, many units are built as one shared library with the system's compiler, and each
// is called with the test's inputs. Units that have not changed since the last time are not built again. A crash or
// an endless loop fails only its own case.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "compiler/support/error.h"
#include "tools/conformance/compile_case.h"
#include "tools/conformance/group.h"
#include "tools/conformance/report.h"
#include "tools/conformance/run_case.h"
#include "tools/conformance/suite.h"
#include "tools/conformance/worker.h"

namespace onnxc {
namespace {

struct Options {
  std::vector<std::string> suites;
  std::string filter, report, flags, keep, runner;
  int jobs = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  bool by_operator = false, list = false;
  uint64_t sample = 1;
  GroupOptions group;
};

std::vector<CaseResult> run_cases(const std::vector<Case>& cases, const Options& options) {
  const std::vector<std::vector<Case>> groups = make_groups(cases, options.jobs);
  std::vector<CaseResult> results;
  std::mutex mutex;
  Progress progress(static_cast<int>(cases.size()));
  std::atomic<std::size_t> next = 0;
  std::string error;
  const auto work = [&] {
    Worker worker, elsewhere(options.group.runner);
    Worker& runner = options.group.runner.empty() ? worker : elsewhere;
    for (std::size_t g = next++; g < groups.size(); g = next++) {
      try {
        run_group(groups[g], fmt::format("{}_group_{:03}", groups[g][0].suite, g), options.group, worker, runner, [&](CaseResult result) {
          const std::lock_guard lock(mutex);
          progress.add(result);
          results.push_back(std::move(result));
        });
      } catch (const std::exception& e) {
        const std::lock_guard lock(mutex);
        error = e.what();
        next = groups.size();
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < std::min(options.jobs, static_cast<int>(groups.size())); ++i) threads.emplace_back(work);
  }
  if (!error.empty()) throw Error(ErrorKind::Io, error);
  std::ranges::sort(results, {}, &CaseResult::name);
  return results;
}

int run(const Options& options) {
  std::vector<CaseResult> all;
  std::vector<std::string> lines;
  for (const std::string& what : options.suites) {
    Suite suite = find_suite(what);
    filter_cases(suite, options.filter);
    sample_cases(suite, options.sample);
    if (options.list) {
      for (const Case& c : suite.cases) fmt::print("{}\n", c.name);
      continue;
    }
    const std::vector<CaseResult> results = run_cases(suite.cases, options);
    print_details(results, options.by_operator);
    lines.push_back(summary_line(suite.name, count(results)));
    if (options.suites.size() > 1) fmt::print("{}\n", lines.back());
    all.insert(all.end(), results.begin(), results.end());
  }
  if (options.list) return 0;
  if (!options.report.empty()) write_report(options.report, all);
  const Tally tally = count(all);
  if (options.suites.size() > 1) lines.push_back(summary_line("all", tally));
  fmt::print("{}\n", lines.back());
  if (tally.total() == 0) throw Error(ErrorKind::Usage, "no case matches --filter");
  return tally.failed == 0 ? 0 : 1;
}

nlohmann::json answer_to(const nlohmann::json& request) { return request["do"] == "compile" ? compile_case(request) : run_case(request); }

int main_with(int argc, char** argv) {
  Options options;
  if (const std::string sanitizers = ONNXC_SANITIZE; !sanitizers.empty())  // emitted code is built like onnxc itself
    options.group.flags.insert(options.group.flags.end(),
                               {"-fsanitize=" + sanitizers, "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"});
  CLI::App app("Runs ONNX's backend tests, or cases in their layout, on what onnxc emits.");
  app.add_option("suites", options.suites, "node, light, simple, pytorch-converted, pytorch-operator, or folders with cases")->required();
  app.add_option("--filter", options.filter, "only cases whose name matches this regular expression somewhere");
  app.add_option("--sample", options.sample, "only one of so many cases, chosen by a hash of their names")->check(CLI::PositiveNumber);
  app.add_option("--report", options.report, "write every result to this JSON file");
  app.add_option("--jobs", options.jobs, "groups at once; default: the number of cores")->check(CLI::PositiveNumber);
  app.add_option("--keep", options.keep, "leave the emitted sources in this folder");
  app.add_option("--target", options.group.target, "target to compile for");
  app.add_option("--runner", options.runner,
                 "the command that runs units for another machine: an emulator and conformance_runner built for that machine");
  app.add_option("--threads", options.group.threads, "threads of the emitted code")->check(CLI::PositiveNumber);
  app.add_flag("--keep-subnormals", options.group.keeps_subnormals, "compile with --subnormals=keep");
  app.add_option("--cxxflags", options.flags,
                 fmt::format("flags of the system's compiler instead of {}", fmt::join(options.group.flags, " ")));
  app.add_option("--compile-limit", options.group.compile_limit, "seconds that onnxc may take for a case");
  app.add_option("--run-limit", options.group.run_limit, "seconds that a case may run");
  app.add_flag("--compile-only", options.group.compile_only, "do not build and run what onnxc emits");
  app.add_flag("--by-operator", options.by_operator, "print a table of operators");
  app.add_flag("--list", options.list, "print the names of the cases");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (!options.flags.empty()) options.group.flags = CLI::detail::split(options.flags, ' ');
  if (!options.runner.empty()) options.group.runner = CLI::detail::split(options.runner, ' ');
  options.group.keep = options.keep;
  return run(options);
}

}  // namespace
}  // namespace onnxc

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == onnxc::kWorkerArgument) return onnxc::serve_worker(onnxc::answer_to);
  try {
    return onnxc::main_with(argc, argv);
  } catch (const onnxc::Error& error) {
    fmt::print(stderr, "conformance: {}\n", error.what());
    return error.exit_code();
  } catch (const std::exception& error) {
    fmt::print(stderr, "conformance: {}\n", error.what());
    return 70;
  }
}
