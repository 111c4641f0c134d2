// The file of a model, up to its protobuf message: what it is, whether it can be read, and which opsets it imports.
#pragma once
#include <cstddef>
#include <filesystem>
#include <span>

#include "compiler/frontend/import.h"
#include "compiler/ir/bytes.h"
#include "onnx/onnx_pb.h"

namespace onnxc {

/// Throws Io for what is no regular file or cannot be read, and Invalid beyond protobuf's 2 GiB.
Bytes read_model_file(const std::filesystem::path& path);

/// Throws Invalid, with a guess of the real format, for what is no ONNX model, and Unsupported for messages that are nested too deeply.
onnx::ModelProto parse_model(std::span<const std::byte> bytes);

/// Puts the opsets into `info`. Throws Invalid for an IR version or an opset that does not exist, and where a domain is imported with two.
void check_header(const onnx::ModelProto& model, ModelInfo& info);

}  // namespace onnxc
