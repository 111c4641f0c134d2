// A request for an inference as the protocol states it, once it has been read.
#pragma once
#include <onnxc/model.h>

#include <cstdint>
#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

#include "serving/data_type.h"

namespace onnxc::serving {

/// What ends a request, with the HTTP status of its answer.
class RequestError : public std::runtime_error {
 public:
  RequestError(unsigned status, const std::string& what) : std::runtime_error(what), status_(status) {}
  unsigned status() const { return status_; }

 private:
  unsigned status_;
};

struct InputTensor {
  std::string name;
  const DataType* type = nullptr;
  std::vector<int64_t> shape;
  int64_t count = 0;                  ///< elements: the product of the extents
  const char* data = nullptr;         ///< little-endian, at any alignment; null for strings
  std::vector<onnxc_string> strings;  ///< of a tensor of strings
};

struct WantedOutput {
  std::string name;
  bool is_binary = false;
};

struct InferRequest {
  std::string id;
  std::vector<InputTensor> inputs;
  std::vector<WantedOutput> outputs;  ///< empty: all of the model
  bool is_binary = false;             ///< how all are written then

  // What inputs point to. A deque never moves its elements.
  std::string body;
  std::deque<std::string> converted;
};

}  // namespace onnxc::serving
