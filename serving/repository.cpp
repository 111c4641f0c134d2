#include "serving/repository.h"

#include <algorithm>
#include <charconv>

#include "serving/log.h"
#include "serving/protocol.h"

namespace onnxc::serving {
namespace {

/// Versions are numbers mostly; others come before these.
std::pair<int64_t, std::string> rank(const std::string& version) {
  int64_t number = -1;
  const auto [end, error] = std::from_chars(version.data(), version.data() + version.size(), number);
  return {error == std::errc() && end == version.data() + version.size() ? number : -1, version};
}

std::shared_ptr<const Servable> make_servable(const ModelSource::Unit& unit, const BatchOptions& batch, const Limits& limits) {
  auto servable = std::make_shared<const Servable>(*unit.model, unit.library, limits);
  if (batch.rows > 1) servable->check_rows();
  return servable;
}

}  // namespace

LoadedModel::LoadedModel(const ModelSource& source, const ModelSource::Unit& unit, const BatchOptions& batch, const Limits& limits,
                         Metrics& metrics)
    : name(source.name),
      version(source.version),
      batcher(make_servable(unit, batch, limits), batch, metrics.of(source.name, source.version)) {}

namespace {

/// By model, what changes with where its versions come from.
std::map<std::string, std::string> states_of(const std::vector<ModelSource>& sources) {
  std::map<std::string, std::string> states;
  for (const ModelSource& source : sources) states[source.name] += source.version + '\n' + source.origin + '\n' + source.state + '\n';
  return states;
}

}  // namespace

void Repository::refresh() {
  std::map<std::string, std::string> now;
  try {
    now = states_of(list_());
  } catch (const std::exception& error) {
    log(LogLevel::Errors, "not looked at", {{"error", json_string(error.what())}});
    return;
  }
  std::vector<std::string> changed, gone;
  {
    const std::shared_lock lock(mutex_);
    for (const auto& [name, state] : now) {
      if (const auto before = states_.find(name); before == states_.end() || before->second != state) changed.push_back(name);
    }
    for (const auto& [name, state] : states_) {
      if (!now.contains(name)) gone.push_back(name);
    }
  }
  for (const std::string& name : changed) load(name);
  for (const std::string& name : gone) {
    unload(name);
    log(LogLevel::Events, "unloaded", {{"model", json_string(name)}});
  }
}

std::shared_ptr<LoadedModel> Repository::find(const std::string& name, const std::string& version) const {
  const std::shared_lock lock(mutex_);
  const auto model = models_.find(name);
  if (model == models_.end()) throw RequestError(404, "there is no model '" + name + "'");
  if (version.empty()) {
    const auto highest = std::ranges::max_element(model->second, {}, [](const auto& entry) { return rank(entry.first); });
    return highest->second;
  }
  const auto found = model->second.find(version);
  if (found == model->second.end()) throw RequestError(404, "model '" + name + "' has no version '" + version + "'");
  return found->second;
}

std::vector<std::shared_ptr<LoadedModel>> Repository::all() const {
  std::vector<std::shared_ptr<LoadedModel>> result;
  const std::shared_lock lock(mutex_);
  for (const auto& [name, versions] : models_) {
    for (const auto& [version, model] : versions) result.push_back(model);
  }
  return result;
}

std::vector<std::string> Repository::versions(const std::string& name) const {
  std::vector<std::string> result;
  const std::shared_lock lock(mutex_);
  if (const auto model = models_.find(name); model != models_.end()) {
    for (const auto& [version, loaded] : model->second) result.push_back(version);
  }
  std::ranges::sort(result, {}, rank);
  return result;
}

std::vector<std::string> Repository::load(const std::string& name) {
  const std::lock_guard one_at_a_time(loading_);
  std::vector<std::string> errors;
  std::map<std::string, Versions> loaded, kept;
  std::vector<ModelSource> sources;
  try {
    sources = list_();
  } catch (const std::exception& error) {  // what is served stays
    metrics_.failed_loads.fetch_add(1);
    errors.emplace_back(error.what());
    log(LogLevel::Errors, "not loaded", {{"error", json_string(error.what())}});
    return errors;
  }
  const std::map<std::string, std::string> states = states_of(sources);  // a change from here on is seen by the next look
  for (const ModelSource& source : sources) {
    if (!name.empty() && source.name != name) continue;
    kept[source.name][source.version];
    const auto begin = Clock::now();
    try {
      const std::shared_ptr<LoadedModel> model(new LoadedModel(source, source.load(), batch_, limits_, metrics_),
                                               [this](LoadedModel* ended) { ending_.start([ended] { delete ended; }); });
      loaded[source.name][source.version] = model;
      metrics_.loads.fetch_add(1);
      log(LogLevel::Events, "loaded",
          {{"model", json_string(source.name)},
           {"version", json_string(source.version)},
           {"from", json_string(source.origin)},
           {"joins_requests", model->batcher.joins() ? "true" : "false"},
           {"seconds", std::to_string(std::chrono::duration<double>(Clock::now() - begin).count())}});
    } catch (const std::exception& error) {
      metrics_.failed_loads.fetch_add(1);
      errors.push_back("model '" + source.name + "' version '" + source.version + "' cannot be loaded from " + source.origin + ": " +
                       error.what());
      log(LogLevel::Errors, "not loaded",
          {{"model", json_string(source.name)},
           {"version", json_string(source.version)},
           {"from", json_string(source.origin)},
           {"error", json_string(error.what())}});
    }
  }
  if (kept.empty() && !name.empty()) errors.push_back("there is no model '" + name + "' to load");
  std::map<std::string, Versions> before;  // ends without the lock: it waits for requests
  const std::unique_lock lock(mutex_);
  before = models_;
  if (name.empty()) {
    states_ = states;
  } else if (const auto found = states.find(name); found != states.end()) {
    states_[name] = found->second;
  } else {
    states_.erase(name);
  }
  if (name.empty()) std::erase_if(models_, [&](const auto& entry) { return !kept.contains(entry.first); });
  for (const auto& [model, versions] : kept) {
    Versions& now = models_[model];
    std::erase_if(now, [&still = versions](const auto& entry) { return !still.contains(entry.first); });
    for (const auto& [version, fresh] : loaded[model]) now[version] = fresh;
    if (now.empty()) models_.erase(model);
  }
  return errors;
}

bool Repository::unload(const std::string& name) {
  Versions before;
  const std::unique_lock lock(mutex_);
  states_.erase(name);
  const auto found = models_.find(name);
  if (found == models_.end()) return false;
  before = std::move(found->second);
  models_.erase(found);
  return true;
}

}  // namespace onnxc::serving
