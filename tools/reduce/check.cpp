#include "tools/reduce/check.h"

#include <fmt/format.h>

#include <exception>
#include <future>

#include "tools/driver/files.h"
#include "tools/model/editable_model.h"

namespace onnxc {
namespace {

/// The path as a word of the shell. That of a temporary folder holds no quote.
std::string with_path(const std::string& command, const std::string& path) {
  const std::string word = fmt::format("'{}'", path);
  std::string text;
  std::size_t from = 0;
  for (std::size_t at; (at = command.find("{}", from)) != std::string::npos; from = at + 2) text += command.substr(from, at - from) + word;
  return from == 0 ? command + " " + word : text + command.substr(from);
}

}  // namespace

ProcessResult Check::run(const onnx::ModelProto& model, int slot) const {
  // Each has a folder, for what the command may write beside the model.
  const auto folder = folder_.path() / fmt::format("{}", slot);
  std::filesystem::remove_all(folder);
  make_folder(folder);
  write_model(model, folder / "model.onnx");
  return run_process({"/bin/sh", "-c", with_path(command_, (folder / "model.onnx").string())}, seconds_, &stop_);
}

ProcessResult Check::run(const onnx::ModelProto& model) {
  ++count_;
  return run(model, 0);
}

std::optional<std::size_t> Check::first_of(const std::vector<onnx::ModelProto>& models) {
  std::vector<std::future<bool>> checks;
  for (std::size_t i = 0; i < models.size(); ++i)
    checks.push_back(std::async(std::launch::async, [&, i] { return run(models[i], static_cast<int>(i)).ok(); }));
  for (const std::future<bool>& check : checks) check.wait();
  count_ += static_cast<int>(models.size());
  for (std::size_t i = 0; i < models.size(); ++i) {
    if (checks[i].get()) return i;
  }
  return std::nullopt;
}

}  // namespace onnxc
