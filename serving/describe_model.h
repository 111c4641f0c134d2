// What the protocol tells of a model.
#pragma once
#include <string>

#include "serving/repository.h"

namespace onnxc::serving {

/// Names, datatypes and shapes of inputs and outputs; -1 for an extent that is open. versions: all that are served.
std::string model_metadata(const LoadedModel& model, const std::vector<std::string>& versions);
/// What Triton's clients ask for: the same in the form of its configuration.
std::string model_config(const LoadedModel& model);
/// Counts and times since the start of the process.
std::string model_statistics(const LoadedModel& model);

}  // namespace onnxc::serving
