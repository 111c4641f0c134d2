// Asks the user's command whether models are of interest.
#pragma once
#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "onnx/onnx_pb.h"
#include "tools/driver/process.h"
#include "tools/driver/temporary_folder.h"

namespace onnxc {

class Check {
 public:
  /// `command`: as in ReduceOptions; a command without `{}` gets the path at its end. `stop` ends what runs.
  Check(std::string command, double seconds, const std::atomic<bool>& stop)
      : command_(std::move(command)), seconds_(seconds), stop_(stop) {}

  ProcessResult run(const onnx::ModelProto& model);
  /// The first of the models that is of interest. All of them are asked at the same time.
  std::optional<std::size_t> first_of(const std::vector<onnx::ModelProto>& models);
  int count() const { return count_; }

 private:
  ProcessResult run(const onnx::ModelProto& model, int slot) const;

  std::string command_;
  double seconds_;
  const std::atomic<bool>& stop_;
  int count_ = 0;
  TemporaryFolder folder_;
};

}  // namespace onnxc
