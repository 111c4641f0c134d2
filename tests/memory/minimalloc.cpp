// Packs the problems of MiniMalloc's format: minimalloc [--capacity BYTES] [--effort N] FILE.csv...
//
// A file has a heading and one line for each buffer: `id,lower,upper,size`. The buffer is live in the steps [lower,
// upper). Prints one line for each file. The exit status is 1 unless all files were packed within the capacity.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "compiler/lowering/memory/check_coloring.h"
#include "compiler/lowering/memory/interval_coloring.h"
#include "tests/memory/tool.h"

namespace onnxc {
namespace {

std::vector<Interval> read_intervals(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line) || !line.starts_with("id,lower,upper,size"))
    throw std::runtime_error(path + ": no heading id,lower,upper,size");
  std::vector<Interval> intervals;
  while (std::getline(file, line)) {
    std::ranges::replace(line, ',', ' ');
    std::istringstream fields(line);
    std::string id;
    Interval interval{0, 0, 0, 1};
    if (!(fields >> id >> interval.first >> interval.last >> interval.size)) throw std::runtime_error(path + ": cannot read " + line);
    intervals.push_back(interval);
  }
  return intervals;
}

/// Plans one file. True if it was packed.
bool pack(const std::string& path, const ColoringOptions& options) {
  const std::vector<Interval> intervals = read_intervals(path);
  const Coloring greedy = color_intervals(intervals, {.effort = 0});
  const auto start = std::chrono::steady_clock::now();
  const Coloring coloring = color_intervals(intervals, options);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const auto error = find_coloring_error(intervals, coloring.offsets, coloring.height);
  const bool packed = !error && coloring.height <= options.good_enough;
  fmt::print("{:<12} {:>5} buffers  bound {:>9}  height {:>9}  greedy {:>9}  {:<6} {:6.2f} s{}\n",
             std::filesystem::path(path).stem().string(), intervals.size(), coloring.lower_bound, coloring.height, greedy.height,
             packed ? "packed" : "-", seconds.count(), error ? "  WRONG: " + *error : "");
  std::fflush(stdout);
  return packed;
}

int run(const Numbers& numbers, const std::vector<std::string>& files) {
  const ColoringOptions options{.effort = numbers.at("--effort"), .good_enough = numbers.at("--capacity")};
  const auto packed = std::ranges::count_if(files, [&](const std::string& file) { return pack(file, options); });
  fmt::print("packed {} of {}\n", packed, files.size());
  return packed == std::ssize(files) ? 0 : 1;
}

}  // namespace
}  // namespace onnxc

int main(int argc, char** argv) {
  return onnxc::tool_main("minimalloc", argc, argv, {{"--capacity", 1'048'576}, {"--effort", 1'000'000'000}}, onnxc::run);
}
