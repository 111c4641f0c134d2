// Whether requests may be joined: a row must not depend on the rows beside it.
#include <onnxc/types.hpp>

#include <cmath>
#include <cstring>
#include <random>

#include "serving/servable.h"

namespace onnxc::serving {
namespace {

constexpr int64_t kParts = 3;

/// Rows of made-up elements. Integers are 0 or 1, which most models take as an index.
std::string made_up(const DataType& type, int64_t count, std::mt19937& random) {
  std::string bytes(static_cast<std::size_t>(count) * type.bytes, '\0');
  for (int64_t i = 0; i < count; ++i) {
    char* const to = bytes.data() + static_cast<std::size_t>(i) * type.bytes;
    const float x = std::uniform_real_distribution<float>(-1, 1)(random);
    const auto store = [&](auto value) { std::memcpy(to, &value, sizeof value); };
    if (type.name == "FP32") store(x);
    else if (type.name == "FP64") store(static_cast<double>(x));
    else if (type.name == "FP16") store(float16(x));
    else if (type.name == "BF16") store(bfloat16(x));
    else *to = x > 0 ? 1 : 0;
  }
  return bytes;
}

double element(const DataType& type, const void* data, int64_t i) {
  if (type.name == "FP32") return static_cast<const float*>(data)[i];
  if (type.name == "FP64") return static_cast<const double*>(data)[i];
  if (type.name == "FP16") return static_cast<float>(static_cast<const float16*>(data)[i]);
  if (type.name == "BF16") return static_cast<float>(static_cast<const bfloat16*>(data)[i]);
  return NAN;
}

bool is_float(const DataType& type) { return type.name == "FP32" || type.name == "FP64" || type.name == "FP16" || type.name == "BF16"; }

/// Whether elements are the same but for rounding: half the digits of their type.
bool same(const DataType& type, const void* a, int64_t at_a, const void* b, int64_t at_b, int64_t count) {
  if (!is_float(type)) {
    if (!type.is_string())
      return std::memcmp(static_cast<const char*>(a) + at_a * static_cast<int64_t>(type.bytes),
                         static_cast<const char*>(b) + at_b * static_cast<int64_t>(type.bytes),
                         static_cast<std::size_t>(count) * type.bytes) == 0;
    for (int64_t i = 0; i < count; ++i) {
      const onnxc_string &x = static_cast<const onnxc_string*>(a)[at_a + i], &y = static_cast<const onnxc_string*>(b)[at_b + i];
      if (x.size != y.size || (x.size > 0 && std::memcmp(x.data, y.data, x.size) != 0)) return false;
    }
    return true;
  }
  const double tolerance = type.bytes == 2 ? 0.03 : 1e-3;
  double largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double x = std::abs(element(type, a, at_a + i));
    if (std::isfinite(x)) largest = std::max(largest, x);
  }
  for (int64_t i = 0; i < count; ++i) {
    const double x = element(type, a, at_a + i), y = element(type, b, at_b + i);
    if (std::isfinite(x) != std::isfinite(y) || (std::isfinite(x) && std::abs(x - y) > tolerance * largest)) return false;
  }
  return true;
}

}  // namespace

void Servable::check_rows() const {
  if (batch_symbol_ < 0) return;
  const onnxc_symbol_info& symbol = unit_.symbols[batch_symbol_];
  const int64_t least = std::max<int64_t>(1, symbol.min), parts = std::min(kParts, symbol.max / least);  // a part is the smallest request
  if (parts < 2) return;
  std::mt19937 random(7);
  const auto request_of = [](const std::vector<InputTensor>& tensors) {
    auto request = std::make_shared<InferRequest>();
    request->inputs = tensors;
    return request;
  };
  std::vector<std::string> data;
  data.reserve(inputs_.size());
  std::vector<InputTensor> all;
  std::vector<std::vector<InputTensor>> alone(static_cast<std::size_t>(parts));
  for (const Tensor& tensor : inputs_) {
    InputTensor whole{tensor.name, tensor.type, tensor.shape, 1, nullptr, {}};
    int64_t size = least;  // elements of a part
    for (std::size_t axis = 0; axis < whole.shape.size(); ++axis) {
      int64_t& extent = whole.shape[axis];
      if (axis == 0) extent = parts * least;
      else if (extent < 0)
        extent = std::min<int64_t>(std::max<int64_t>(extent == INT64_MIN ? 4 : unit_.symbols[-1 - extent].min, 4),
                                   extent == INT64_MIN ? 4 : unit_.symbols[-1 - extent].max);
      if (axis > 0) size *= extent;
    }
    whole.count = parts * size;
    if (tensor.type->is_string()) {
      static constexpr onnxc_string kTexts[] = {{"a", 1}, {"bc", 2}};
      for (int64_t i = 0; i < whole.count; ++i) whole.strings.push_back(kTexts[random() % 2]);
    } else {
      data.push_back(made_up(*tensor.type, whole.count, random));
      whole.data = data.back().data();
    }
    for (int64_t r = 0; r < parts; ++r) {
      InputTensor part = whole;
      part.shape[0] = least;
      part.count = size;
      if (tensor.type->is_string()) part.strings.assign(whole.strings.begin() + r * size, whole.strings.begin() + (r + 1) * size);
      else part.data = whole.data + static_cast<std::size_t>(r * size) * tensor.type->bytes;
      alone[static_cast<std::size_t>(r)].push_back(std::move(part));
    }
    all.push_back(std::move(whole));
  }
  Workspace workspace;
  const auto run_one = [&](const std::vector<InputTensor>& tensors) {
    try {
      Job job = make_job(request_of(tensors));
      Job* const one = &job;
      run(std::span(&one, 1), workspace);
      return job.result;
    } catch (const RequestError&) {
      return std::shared_ptr<const RunResult>();
    }
  };
  // Made-up inputs do not suit every model: nothing is known of those that they do not suit.
  const auto together = run_one(all);
  for (int64_t r = 0; together && r < parts; ++r) {
    const auto one = run_one(alone[static_cast<std::size_t>(r)]);
    if (!one) return;
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
      const RunResult::Output &whole = together->outputs[k], &part = one->outputs[k];
      int64_t size = 1;
      for (const int64_t extent : part.shape) size *= extent;
      if (!same(*part.type, part.data, 0, whole.data, r * size, size))
        throw std::runtime_error("a row of its output '" + outputs_[k].name +
                                 "' depends on the rows beside it: requests must not be joined");
    }
  }
}

}  // namespace onnxc::serving
