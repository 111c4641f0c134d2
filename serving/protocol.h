// Requests and answers of the Open Inference Protocol v2 over HTTP, with the extension for binary tensors: JSON first, and behind it the elements of
// those tensors whose parameters say so, in their order. `Inference-Header-Content-Length` tells how long the JSON is.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "serving/request.h"
#include "serving/servable.h"

namespace onnxc::serving {

/// Reads the body of a request. json_bytes: of that header; nothing where all is JSON. Throws RequestError(400).
std::shared_ptr<InferRequest> read_request(std::string body, std::optional<std::size_t> json_bytes);

struct Answer {
  std::string body;
  std::optional<std::size_t> json_bytes;  ///< where binary tensors follow
};

/// The answer to a job that is done. Throws RequestError where JSON cannot hold an output.
Answer write_answer(const Job& job, const Servable& servable, const std::string& model, const std::string& version);

/// `text` as a string of JSON, with its quotes. Bytes that are no UTF-8 become U+FFFD.
std::string json_string(std::string_view text);
bool is_utf8(std::string_view text);

}  // namespace onnxc::serving
