// The models that are served, by name and version. What is loaded anew takes the place of what was there once it is whole; requests that have begun end on
// what they began with.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "serving/background.h"
#include "serving/batcher.h"

namespace onnxc::serving {

/// Where a version of a model comes from.
struct ModelSource {
  struct Unit {
    const onnxc_model* model = nullptr;
    std::shared_ptr<const void> library;  ///< what the model lives in
  };
  std::string name, version;
  std::string origin;          ///< as messages tell it
  std::function<Unit()> load;  ///< may take long; throws std::exception
  std::string state{};         ///< changes with what is there
};

/// What is served now.
struct LoadedModel {
  LoadedModel(const ModelSource& source, const ModelSource::Unit& unit, const BatchOptions& batch, const Limits& limits, Metrics& metrics);
  const std::string name, version;
  Batcher batcher;
};

/// It must outlive all requests for its models.
class Repository {
 public:
  /// list: all that is to be served, as it is now; it is asked for each time that models are loaded.
  Repository(std::function<std::vector<ModelSource>()> list, const BatchOptions& batch, const Limits& limits, Metrics& metrics)
      : list_(std::move(list)), batch_(batch), limits_(limits), metrics_(metrics) {}

  /// An empty version is the highest. Throws RequestError(404).
  std::shared_ptr<LoadedModel> find(const std::string& name, const std::string& version) const;
  std::vector<std::shared_ptr<LoadedModel>> all() const;
  std::vector<std::string> versions(const std::string& name) const;

  /// Loads the versions of a model, or of all where the name is empty. What fails keeps what was there, and its message is one of the result.
  std::vector<std::string> load(const std::string& name);
  /// Loads models that have come or changed since they were loaded last, or could not be, and unloads those that are gone.
  void refresh();
  /// Whether there was one of that name.
  bool unload(const std::string& name);

 private:
  using Versions = std::map<std::string, std::shared_ptr<LoadedModel>>;
  const std::function<std::vector<ModelSource>()> list_;
  const BatchOptions batch_;
  const Limits limits_;
  Metrics& metrics_;
  Background ending_;  // where models end: their last user may be a thread of their own, which cannot wait for itself
  std::mutex loading_;
  mutable std::shared_mutex mutex_;
  std::map<std::string, Versions> models_;
  std::map<std::string, std::string> states_;  // of sources, at the last load of each
};

}  // namespace onnxc::serving
