// What was measured, in a file.
//
//   {"format": "onnxc tune 1",
//    "settings": {"Some CPU, native, 1 thread, onnxc 0.1.0 of 3f2a..., g++ 12.2": {
//      "nodes": {"Conv {...} (...) -> (...)": {"ns": {"conv": 1234.5, "winograd_2_3": 987.6}, "pick": "winograd_2_3"}},
//      "comparisons": {"5d41...": {"default_ns": 52340, "tuned_ns": 49120}}}}}
//
// A setting is all that times depend on beside the node. Files of several machines can be told apart by it, and times of kernels that have changed since are not used. To
// decide otherwise than the times say, change a "pick".
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "compiler/select/tuning.h"

namespace onnxc {

/// A model with all its picks against the same with none.
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

/// Empty where there is no such file. A file that is damaged, or is none of ours, is an Error{Io}, and never written over: its name may be a mistake.
TuneCache read_tune_cache(const std::filesystem::path& path);

/// Adds to the file, in one go: others see the old one or the new one. What another process has added meanwhile stays.
void add_to_tune_cache(const std::filesystem::path& path, const std::string& setting, const Tuned& tuned);

/// The text of a cache; the same cache gives the same bytes. Throws std::invalid_argument for text that is none.
std::string print_tune_cache(const TuneCache& cache);
TuneCache parse_tune_cache(const std::string& text);

/// Names the candidates that a program of these choices is made of.
std::string combination_key(const std::vector<Choice>& choices);

/// The setting of this machine, its C++ compiler and this onnxc.
std::string tune_setting(const std::string& target, int threads);

}  // namespace onnxc
