// Measured times in a file.
//
//   {"format": "onnxc tune 1",
//    "settings": {"Some CPU, native, 1 thread, onnxc 0.1.0 of 3f2a..., g++ 12.2": {
//      "nodes": {"Conv {...} (...) -> (...)": {"ns": {"conv": 1234.5, "winograd_2_3": 987.6}, "pick": "winograd_2_3"}},
//      "comparisons": {"5d41...": {"default_ns": 52340, "tuned_ns": 49120}}}}}
//
// A setting is everything that times depend on beside the node. It distinguishes files of several machines, and
// excludes times of kernels that have changed since. To override the decision that follows from the times, change a
// "pick".
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "compiler/select/tuning.h"

namespace onnxc {

/// A model with all its picks, compared with the same model without any.
struct TunedRun {
  double default_ns = 0, tuned_ns = 0;
  bool keeps_default() const { return tuned_ns >= default_ns; }
};

/// What is known in one setting.
struct Tuned {
  Tuning nodes;
  std::map<std::string, TunedRun> comparisons{};  ///< by combination_key
};

/// By setting.
using TuneCache = std::map<std::string, Tuned>;

/// cache_folder()/tune.json
std::filesystem::path default_tune_cache();

/// Empty if there is no such file. A damaged or foreign file is an Error{Io} and never overwritten, since its name
/// may be a mistake.
TuneCache read_tune_cache(const std::filesystem::path& path);

/// Adds to the file atomically: others see the old file or the new one. What another process has added meanwhile is
/// kept.
void add_to_tune_cache(const std::filesystem::path& path, const std::string& setting, const Tuned& tuned);

/// The text of a cache; equal caches give the same bytes. Parsing throws std::invalid_argument for an invalid text.
std::string print_tune_cache(const TuneCache& cache);
TuneCache parse_tune_cache(const std::string& text);

/// A key for the candidates that a program of these choices uses.
std::string combination_key(const std::vector<Choice>& choices);

/// The setting of this machine, its C++ compiler and this onnxc.
std::string tune_setting(const std::string& target, int threads);

}  // namespace onnxc
