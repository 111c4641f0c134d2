// onnxc reduce: the smallest model that still shows something.
#pragma once
#include <filesystem>
#include <string>

namespace onnxc {

struct ReduceOptions {
  std::filesystem::path model, output;
  std::string check;          ///< a command of the shell: exit status 0 says that a model is still of interest. `{}` stands for its path
  double seconds = 0;         ///< for all; 0: no limit
  double check_seconds = 60;  ///< for one run of the check, which then counts as failed
  int jobs = 1;               ///< checks at once; it does not change the result
};

/// Removes from the model what the check does not need, one change after the other, until no change is left or time is over. `output` holds
/// the best so far at any time; SIGINT and SIGTERM end the search. Returns 0. Throws Error{Usage} if the check does not hold of the model
/// itself, Error{Io}, and Error{Invalid} for what is no model.
int reduce_command(const ReduceOptions& options);

}  // namespace onnxc
