#include "tools/tune/tune_cache.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "compiler/support/error.h"
#include "compiler/support/error_codes.h"
#include "compiler/support/sha256.h"
#include "tools/driver/build_library.h"
#include "tools/driver/files.h"
#include "tools/driver/json_text.h"
#include "tools/driver/processor.h"

namespace onnxc {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "onnxc tune 1";

double time_of(const json& value) {
  const double ns = value.get<double>();
  if (!std::isfinite(ns) || ns < 0) throw std::invalid_argument("a time is no number of nanoseconds");
  return ns;
}

Tuned tuned_of(const json& setting) {
  Tuned tuned;
  for (const auto& [signature, node] : setting.at("nodes").get_ref<const json::object_t&>()) {
    Measured& measured = tuned.nodes[signature];
    measured.pick = node.at("pick").get<std::string>();
    for (const auto& [label, ns] : node.at("ns").get_ref<const json::object_t&>()) measured.ns[label] = time_of(ns);
  }
  for (const auto& [key, comparison] : setting.at("comparisons").get_ref<const json::object_t&>())
    tuned.comparisons[key] = {time_of(comparison.at("default_ns")), time_of(comparison.at("tuned_ns"))};
  return tuned;
}

json json_of(const Tuned& tuned) {
  json nodes = json::object(), comparisons = json::object();
  for (const auto& [signature, measured] : tuned.nodes) nodes[signature] = {{"ns", measured.ns}, {"pick", measured.pick}};
  for (const auto& [key, comparison] : tuned.comparisons)
    comparisons[key] = {{"default_ns", comparison.default_ns}, {"tuned_ns", comparison.tuned_ns}};
  return {{"nodes", std::move(nodes)}, {"comparisons", std::move(comparisons)}};
}

}  // namespace

std::filesystem::path default_tune_cache() { return cache_folder() / "tune.json"; }

std::string print_tune_cache(const TuneCache& cache) {
  json settings = json::object();
  for (const auto& [name, tuned] : cache) settings[name] = json_of(tuned);
  return json_text(json{{"format", kFormat}, {"settings", std::move(settings)}});
}

TuneCache parse_tune_cache(const std::string& text) {
  try {
    const json file = json::parse(text);
    if (const auto format = file.at("format").get<std::string>(); format != kFormat)
      throw std::invalid_argument(fmt::format("its format is '{}'", one_line(format)));
    TuneCache cache;
    for (const auto& [name, setting] : file.at("settings").get_ref<const json::object_t&>()) cache[name] = tuned_of(setting);
    return cache;
  } catch (const json::exception& error) {
    throw std::invalid_argument(one_line(error.what()));
  }
}

TuneCache read_tune_cache(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return {};
  try {
    return parse_tune_cache(read_file(path));
  } catch (const std::invalid_argument& error) {
    throw Error(ErrorCode::TuneCache, fmt::format("{} is no cache of --tune, or is damaged: {}", path.string(), error.what()),
                "remove it, or name another with --tune-cache");
  }
}

void add_to_tune_cache(const std::filesystem::path& path, const std::string& setting, const Tuned& tuned) {
  TuneCache cache = read_tune_cache(path);
  Tuned& all = cache[setting];
  for (const auto& [signature, measured] : tuned.nodes) all.nodes.insert_or_assign(signature, measured);
  for (const auto& [key, comparison] : tuned.comparisons) all.comparisons.insert_or_assign(key, comparison);
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);  // if it fails, so does what follows
  write_file(path, print_tune_cache(cache));
}

std::string combination_key(const std::vector<Choice>& choices) {
  std::string all;
  for (const Choice& choice : choices) all += choice.signature + '\n' + choice.candidates[choice.winner].label() + '\n';
  return sha256(std::as_bytes(std::span(all))).substr(0, 32);
}

std::string tune_setting(const std::string& target, int threads) {
  return fmt::format("{}, {}, {} thread{}, onnxc {} of {}, {}", processor_name(), target, threads, threads == 1 ? "" : "s", ONNXC_VERSION,
                     runtime_fingerprint(), compiler_name());
}

}  // namespace onnxc
