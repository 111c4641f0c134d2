#include "serving/describe_model.h"

#include "serving/protocol.h"

namespace onnxc::serving {
namespace {

std::string shape(const Servable::Tensor& tensor) {
  std::string text = "[";
  for (const int64_t extent : tensor.shape) text += (text.size() > 1 ? "," : "") + std::to_string(extent < 0 ? -1 : extent);
  return text + "]";
}

template <class Describe>
std::string list(const std::vector<Servable::Tensor>& tensors, const Describe& describe) {
  std::string text = "[";
  for (const Servable::Tensor& tensor : tensors) text += (text.size() > 1 ? ",{" : "{") + describe(tensor) + "}";
  return text + "]";
}

std::string metadata(const Servable::Tensor& tensor) {
  return "\"name\":" + json_string(tensor.name) + ",\"datatype\":\"" + std::string(tensor.type->name) + "\",\"shape\":" + shape(tensor);
}

std::string config(const Servable::Tensor& tensor) {
  const std::string type = tensor.type->is_string() ? "STRING" : std::string(tensor.type->name);
  return "\"name\":" + json_string(tensor.name) + ",\"data_type\":\"TYPE_" + type + "\",\"dims\":" + shape(tensor);
}

std::string duration(uint64_t count, double seconds) {
  return "{\"count\":" + std::to_string(count) + ",\"ns\":" + std::to_string(static_cast<uint64_t>(seconds * 1e9)) + "}";
}

}  // namespace

std::string model_metadata(const LoadedModel& model, const std::vector<std::string>& versions) {
  const Servable& servable = model.batcher.servable();
  std::string texts;
  for (const std::string& version : versions) texts += (texts.empty() ? "" : ",") + json_string(version);
  return "{\"name\":" + json_string(model.name) + ",\"versions\":[" + texts +
         "],\"platform\":\"onnxc\",\"inputs\":" + list(servable.inputs(), metadata) + ",\"outputs\":" + list(servable.outputs(), metadata) +
         "}";
}

std::string model_config(const LoadedModel& model) {
  const Servable& servable = model.batcher.servable();
  // Shapes above have their batch axis, so there is none that a client would add: max_batch_size is 0.
  return "{\"name\":" + json_string(model.name) +
         ",\"platform\":\"onnxc\",\"backend\":\"onnxc\",\"max_batch_size\":0,\"input\":" + list(servable.inputs(), config) +
         ",\"output\":" + list(servable.outputs(), config) + "}";
}

std::string model_statistics(const LoadedModel& model) {
  const ModelMetrics& metrics = model.batcher.metrics();
  const uint64_t good = metrics.answers[2].load(), bad = metrics.answers[4].load() + metrics.answers[5].load();
  return "{\"name\":" + json_string(model.name) + ",\"version\":" + json_string(model.version) +
         ",\"inference_count\":" + std::to_string(static_cast<uint64_t>(metrics.batch_rows.sum())) +
         ",\"execution_count\":" + std::to_string(metrics.run_seconds.count()) +
         ",\"inference_stats\":{\"success\":" + duration(good, metrics.request_seconds.sum()) + ",\"fail\":" + duration(bad, 0) +
         ",\"queue\":" + duration(metrics.queue_seconds.count(), metrics.queue_seconds.sum()) +
         ",\"compute_infer\":" + duration(metrics.run_seconds.count(), metrics.run_seconds.sum()) + "}}";
}

}  // namespace onnxc::serving
