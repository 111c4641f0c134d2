#include "compiler/frontend/model_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <system_error>

#include "compiler/frontend/nesting.h"
#include "compiler/frontend/schemas.h"
#include "compiler/support/error_codes.h"
#include "compiler/support/mapped_file.h"

namespace onnxc {
namespace {

constexpr int64_t kNewestIr = 14;
constexpr int64_t kMostFileBytes = INT32_MAX;  // protobuf's limit
constexpr int kDeepestMessage = 400;

/// Guesses the format of a file that is not an ONNX model.
std::string guess_format(std::span<const std::byte> bytes) {
  const auto starts = [&](std::string_view magic, std::size_t at = 0) {
    return bytes.size() >= at + magic.size() && std::memcmp(bytes.data() + at, magic.data(), magic.size()) == 0;
  };
  if (bytes.empty()) return "the file is empty";
  if (starts("PK\x03\x04")) return "it is a zip archive (a PyTorch .pt file?); export the model to ONNX first";
  if (starts("TFL3", 4)) return "it is a TensorFlow Lite model; convert it to ONNX first";
  if (starts("\x80\x02") || starts("\x80\x03") || starts("\x80\x04") || starts("\x80\x05"))
    return "it is a Python pickle; export the model to ONNX first";
  if (starts("\x89HDF")) return "it is an HDF5 file (a Keras model?); convert it to ONNX first";
  if (starts("version https://git-lfs")) return "it is a Git LFS pointer; fetch the real file with 'git lfs pull'";
  if (std::all_of(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(bytes.size(), 256)), [](std::byte b) {
        const auto c = std::to_integer<unsigned char>(b);
        return c == '\n' || c == '\r' || c == '\t' || (c >= 32 && c < 127);
      }))
    return "it is a text file";
  return "it is damaged, truncated or of another format";
}

}  // namespace

Bytes read_model_file(const std::filesystem::path& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) throw Error(ErrorCode::ModelUnreadable, "no such file");
  if (!S_ISREG(status.st_mode)) throw Error(ErrorCode::ModelUnreadable, "not a regular file");
  if (status.st_size > kMostFileBytes)
    throw Error(ErrorCode::ModelTooLarge, fmt::format("{} bytes, more than protobuf's limit of 2 GiB", status.st_size),
                "save the weights as external data");
  if (constexpr int64_t kLeastMapped = 1 << 20; status.st_size >= kLeastMapped) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const auto size = static_cast<std::size_t>(status.st_size);
    const std::shared_ptr<const std::byte> mapped =
        file >= 0 && fstat(file, &status) == 0 && status.st_size == static_cast<off_t>(size) ? map_file(file, size, "the model") : nullptr;
    if (file >= 0) close(file);
    if (mapped != nullptr) return {mapped, size};
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(status.st_size));
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(bytes.data()), status.st_size))
    throw Error(ErrorCode::ModelUnreadable,
                errno != 0 ? "cannot be read: " + std::generic_category().message(errno) : "cannot be read as a whole");
  return bytes;
}

onnx::ModelProto parse_model(std::span<const std::byte> bytes) {
  const auto refuse = [](const std::string& what) { throw Error(ErrorCode::NotAModel, fmt::format("not an ONNX model: {}", what)); };
  google::protobuf::LogSilencer quiet;
  onnx::ModelProto model;
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<int>(bytes.size()));
  stream.SetRecursionLimit(kDeepestMessage);
  if (bytes.empty() || !model.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) {
    if (const auto deep = find_deep_nesting(bytes, kDeepestMessage))
      throw Error(ErrorCode::NestedTooDeeply, std::vector<Diagnostic>{*deep});
    refuse(guess_format(bytes));
  }
  if (model.ir_version() == 0 && model.opset_import_size() == 0) refuse(guess_format(bytes));
  if (!model.has_graph()) refuse("it has no graph");
  return model;
}

void check_header(const onnx::ModelProto& model, ModelInfo& info) {
  if (model.ir_version() > kNewestIr)
    throw Error(ErrorCode::NewerIrVersion, fmt::format("IR version {} is newer than {}, the newest known", model.ir_version(), kNewestIr));
  std::set<std::string> seen;
  for (const auto& import : model.opset_import()) {
    const std::string domain = normal_domain(import.domain());
    const std::string shown = domain.empty() ? "ai.onnx" : domain;
    if (!seen.insert(domain).second && info.opsets[shown] != import.version())
      throw Error(ErrorCode::OpsetImport, fmt::format("domain '{}' is imported with two opsets", shown));
    check_opset(import.domain(), import.version());
    info.opsets[shown] = import.version();
  }
  // Before IR version 3 there was only one opset, and no field for it.
  if (info.opsets.empty() && model.ir_version() >= 3) throw Error(ErrorCode::OpsetImport, "imports no opset");
  if (info.opsets.empty()) info.opsets["ai.onnx"] = 1;
}

}  // namespace onnxc
