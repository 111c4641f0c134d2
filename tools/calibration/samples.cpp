#include "tools/calibration/samples.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "compiler/support/error_codes.h"
#include "tools/calibration/npy_file.h"

namespace onnxc {
namespace {

namespace fs = std::filesystem;

const Type* type_of(const Graph& graph, const std::string& input) {
  for (const ValueId v : graph.inputs) {
    if (graph[v].name == input) return &graph[v].type;
  }
  return nullptr;
}

/// `f32[batch, 3, 224, 224], f32[?]` for messages.
std::string wanted(const ModelSummary& model, const Graph& graph) {
  std::vector<std::string> texts;
  for (const BorderValue& input : model.inputs) {
    const Type* type = type_of(graph, input.name);
    if (!input.initial) texts.push_back(fmt::format("'{}'{}", input.name, type != nullptr ? " " + type->text() : ""));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// Why the value cannot be that input, or nothing.
std::string misfit(const HostValue& value, const Type& type) {
  if (value.kind != ValueKind::Tensor || !type.is_tensor()) return "only tensors are understood";
  const TensorData& tensor = value.tensor;
  if (tensor.type != type.element) {
    const bool is_cast = tensor.type == ElementType::F64 && type.element == ElementType::F32;
    return fmt::format("the input is {}{}", type.text(), is_cast ? "; save it with .astype(np.float32)" : "");
  }
  if (type.ranked && tensor.shape.size() != type.extents.size()) return fmt::format("the input is {}", type.text());
  for (std::size_t axis = 0; type.ranked && axis < tensor.shape.size(); ++axis) {
    const Dim extent = type.extents[axis];
    if (extent.is_constant() && extent.value() != tensor.shape[axis]) return fmt::format("the input is {}", type.text());
  }
  if (is_float(tensor.type)) {
    for (const double x : to_doubles(tensor)) {
      if (!std::isfinite(x)) return fmt::format("it holds {}; leave that sample out or repair it", std::isnan(x) ? "NaN" : "an infinity");
    }
  }
  return {};
}

std::vector<fs::path> find_protos(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().extension() == ".pb") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

/// The input of a model that has no other without an initialiser.
std::size_t only_input(const ModelSummary& model, const std::string& source) {
  std::vector<std::size_t> inputs;
  for (std::size_t i = 0; i < model.inputs.size(); ++i) {
    if (!model.inputs[i].initial) inputs.push_back(i);
  }
  if (inputs.size() != 1)
    throw Error(ErrorCode::DataMissing, fmt::format("{} has values for one input, the model has {}", source, inputs.size()),
                "give an .npz file with an array for each input, or folders test_data_set_0, test_data_set_1, …");
  return inputs[0];
}

}  // namespace

Samples Samples::read(const fs::path& data, const ModelSummary& model, const Graph& graph) {
  Samples samples;
  samples.data_ = data;
  samples.kept_ = std::make_shared<const ModelSummary>(model);
  samples.model_ = samples.kept_.get();
  std::error_code error;
  if (!fs::exists(data, error)) throw Error(ErrorCode::CannotRead, fmt::format("no such file or folder: {}", data.string()));
  if (fs::is_directory(data)) {
    samples.files_ = find_data_sets(data);
    if (samples.files_.empty()) {
      samples.files_ = find_protos(data);
      if (!samples.files_.empty()) only_input(model, data.string());
    }
    samples.count_ = samples.files_.size();
    if (samples.count_ == 0)
      throw Error(ErrorCode::DataMissing, fmt::format("{} holds no samples", data.string()),
                  "put test_data_set_0/input_0.pb and so on into it, or .pb files of the one input, or give an .npz or .npy file");
  } else {
    samples.add_arrays(model, graph);
  }
  samples.check(graph);
  return samples;
}

void Samples::add_arrays(const ModelSummary& model, const Graph& graph) {
  for (NamedArray& array : read_arrays(data_)) {
    int input = model.find_input(array.name);
    if (input < 0 && array.name.empty()) input = static_cast<int>(only_input(model, data_.string()));
    if (input < 0) continue;  // labels, for example
    const auto k = static_cast<std::size_t>(input);
    const std::string& name = model.inputs[k].name;
    const Type* type = type_of(graph, name);
    const auto refuse = [&](const std::string& why, const std::string& remedy = {}) {
      throw Error(ErrorCode::DataMisfit,
                  fmt::format("{}: the array for input '{}' is {}: {}", data_.string(), name, describe(array.tensor), why), remedy);
    };
    if (type == nullptr || !type->is_tensor() || !type->ranked)
      refuse("the input has no known rank", "give folders test_data_set_0, test_data_set_1, …");
    std::vector<int64_t> shape = array.tensor.shape;
    std::size_t count = 0;
    if (shape.size() == static_cast<std::size_t>(type->rank()) + 1) {
      count = static_cast<std::size_t>(shape[0]);
      shape.erase(shape.begin());
    } else if (!shape.empty() && shape.size() == static_cast<std::size_t>(type->rank())) {
      const Dim batch = type->extents[0];
      const int64_t piece = batch.is_constant() ? batch.value() : 1;
      if (piece <= 0 || shape[0] % piece != 0)
        refuse(fmt::format("the input is {}, and {} is no multiple of its first extent", type->text(), shape[0]),
               "add an axis for the samples in front");
      count = static_cast<std::size_t>(shape[0] / piece);
      shape[0] = piece;
    } else {
      refuse(fmt::format("the input is {}", type->text()), "its first axis, or one more in front, is for the samples");
    }
    if (count == 0) refuse("it has no samples");
    if (!arrays_.empty() && count != count_) {
      const std::string& other = model.inputs[arrays_[0].input].name;
      refuse(fmt::format("it has {} samples, '{}' has {}", count, other, count_));
    }
    if (is_sub_byte(array.tensor.type)) refuse("elements of less than a byte are not understood");
    count_ = count;
    arrays_.push_back({k, std::move(array.tensor), std::move(shape)});
  }
  for (std::size_t i = 0; i < model.inputs.size(); ++i) {
    if (!model.inputs[i].initial && std::ranges::find(arrays_, i, &Array::input) == arrays_.end())
      throw Error(ErrorCode::DataMissing, fmt::format("{} has no array for input '{}'", data_.string(), model.inputs[i].name),
                  fmt::format("arrays are called like the model's inputs: {}", wanted(model, graph)));
  }
}

void Samples::check(const Graph& graph) const {
  for (std::size_t k = 0; k < count_; ++k) {
    const DataSet data = at(k);
    for (std::size_t i = 0; i < data.inputs.size(); ++i) {
      const BorderValue& input = model_->inputs[i];
      if (!data.inputs[i]) {
        if (input.initial || input.kind == ValueKind::Optional) continue;
        throw Error(ErrorCode::DataMissing, fmt::format("{} has no value for input '{}'", name(k), input.name),
                    fmt::format("the model takes {}", wanted(*model_, graph)));
      }
      const Type* type = type_of(graph, input.name);
      if (type == nullptr) continue;  // an initialiser
      if (const std::string why = misfit(*data.inputs[i], *type); !why.empty())
        throw Error(ErrorCode::DataMisfit,
                    fmt::format("{}: the value of input '{}' is {}: {}", name(k), input.name, describe(*data.inputs[i]), why));
    }
  }
}

std::string Samples::name(std::size_t sample) const {
  return files_.empty() ? fmt::format("{}, sample {}", data_.string(), sample) : files_[sample].string();
}

DataSet Samples::at(std::size_t sample) const {
  DataSet data{name(sample), std::vector<std::optional<HostValue>>(model_->inputs.size()), {}};
  if (!files_.empty() && fs::is_directory(files_[sample])) {
    data.inputs = read_data_set(files_[sample], *model_).inputs;
  } else if (!files_.empty()) {
    data.inputs[only_input(*model_, data.folder.string())] = read_value(files_[sample], ValueKind::Tensor);
  }
  for (const Array& array : arrays_) {
    const std::size_t bytes = array.tensor.bytes.size() / count_;
    TensorData piece{array.tensor.type, array.shape, {}, {}};
    const auto first = array.tensor.bytes.begin() + static_cast<std::ptrdiff_t>(sample * bytes);
    piece.bytes.assign(first, first + static_cast<std::ptrdiff_t>(bytes));
    data.inputs[array.input] = HostValue::of(std::move(piece));
  }
  return data;
}

}  // namespace onnxc
