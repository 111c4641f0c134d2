#include "tools/driver/data_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>

#include "compiler/support/error_codes.h"
#include "tools/driver/files.h"

namespace onnxc {
namespace {

namespace fs = std::filesystem;

/// K of `input_K.pb` or of `test_data_set_K`; -1 for other names.
int number_in(const std::string& name, std::string_view before, std::string_view after) {
  if (!name.starts_with(before) || !name.ends_with(after) || name.size() <= before.size() + after.size()) return -1;
  const std::string digits = name.substr(before.size(), name.size() - before.size() - after.size());
  if (digits.size() > 6 || !std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; })) return -1;
  return std::stoi(digits);
}

/// The numbered entries of a folder in the order of their numbers.
std::vector<std::pair<int, fs::path>> numbered(const fs::path& folder, std::string_view before, std::string_view after) {
  std::vector<std::pair<int, fs::path>> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const int number = number_in(entry.path().filename().string(), before, after);
    if (number >= 0) found.emplace_back(number, entry.path());
  }
  std::ranges::sort(found);
  return found;
}

/// The input of the graph that a file is for.
std::size_t input_of_file(int number, const HostValue& value, std::size_t files, const ModelSummary& model) {
  if (const int named = model.find_input(value.name); named >= 0) return static_cast<std::size_t>(named);
  std::vector<std::size_t> without_initialiser;
  for (std::size_t i = 0; i < model.inputs.size(); ++i) {
    if (!model.inputs[i].initial) without_initialiser.push_back(i);
  }
  const auto k = static_cast<std::size_t>(number);
  return files == without_initialiser.size() && k < files ? without_initialiser[k] : k;
}

HostValue in_unit_order(HostValue value, const std::string& name, const OutermostAxes& outermost) {
  const auto found = outermost.find(name);
  TensorData& tensor = value.tensor;
  if (found == outermost.end() || static_cast<std::size_t>(found->second) >= tensor.shape.size()) return value;
  const auto axis = tensor.shape.begin() + found->second;
  const auto product = [](auto begin, auto end) {
    return static_cast<std::size_t>(std::accumulate(begin, end, int64_t{1}, std::multiplies<>()));
  };
  const std::size_t before = product(tensor.shape.begin(), axis), here = static_cast<std::size_t>(*axis), all = before * here;
  const auto move = [&](auto& elements) {
    auto moved = elements;
    const std::size_t inner = all == 0 ? 0 : elements.size() / all;
    for (std::size_t i = 0; i < before; ++i) {
      for (std::size_t k = 0; k < here; ++k)
        std::copy_n(elements.begin() + (i * here + k) * inner, inner, moved.begin() + (k * before + i) * inner);
    }
    elements = std::move(moved);
  };
  move(tensor.bytes);
  move(tensor.strings);
  std::rotate(tensor.shape.begin(), axis, axis + 1);
  return value;
}

}  // namespace

std::vector<fs::path> find_data_sets(const fs::path& folder) {
  if (!fs::is_directory(folder)) throw Error(ErrorCode::CannotRead, fmt::format("{} is no folder", folder.string()));
  if (!numbered(folder, "input_", ".pb").empty() || !numbered(folder, "output_", ".pb").empty()) return {folder};
  std::vector<fs::path> sets;
  for (const auto& [number, path] : numbered(folder, "test_data_set_", "")) sets.push_back(path);
  return sets;
}

DataSet read_data_set(const fs::path& folder, const ModelSummary& model, const OutermostAxes& outermost) {
  DataSet data{folder, std::vector<std::optional<HostValue>>(model.inputs.size()),
               std::vector<std::optional<HostValue>>(model.outputs.size())};
  const auto files = numbered(folder, "input_", ".pb");
  for (const auto& [number, path] : files) {
    // The kind of value depends on the input, which depends on the name in the value. Tensors are tried first, since
    // nearly all are.
    const auto k = static_cast<std::size_t>(number);
    const ValueKind kind = k < model.inputs.size() ? model.inputs[k].kind : ValueKind::Tensor;
    HostValue value = read_value(path, kind);
    const std::size_t input = input_of_file(number, value, files.size(), model);
    if (input >= data.inputs.size()) throw Error(ErrorCode::DataMisfit, fmt::format("{} is for no input of the model", path.string()));
    data.inputs[input] = in_unit_order(std::move(value), model.inputs[input].name, outermost);
  }
  for (const auto& [number, path] : numbered(folder, "output_", ".pb")) {
    const auto k = static_cast<std::size_t>(number);
    if (k >= data.outputs.size()) throw Error(ErrorCode::DataMisfit, fmt::format("{} is for no output of the model", path.string()));
    data.outputs[k] = in_unit_order(read_value(path, model.outputs[k].kind), model.outputs[k].name, outermost);
  }
  return data;
}

Tolerance read_tolerance(const fs::path& case_folder, const Tolerance& otherwise) {
  Tolerance tolerance = otherwise;
  for (const char* name : {"data.json", "case.json"}) {
    const fs::path path = case_folder / name;
    if (!fs::exists(path)) continue;
    const auto json = nlohmann::json::parse(read_file(path), nullptr, false);
    if (!json.is_object()) throw Error(ErrorCode::DamagedData, fmt::format("{} is not a JSON object", path.string()));
    const auto number = [&](const char* key) -> std::optional<double> {
      if (!json.contains(key) || !json[key].is_number()) return std::nullopt;
      return json[key].get<double>();
    };
    tolerance.rtol = number("rtol").value_or(tolerance.rtol);
    tolerance.atol = number("atol").value_or(tolerance.atol);
    tolerance.int_atol = static_cast<int64_t>(number("int_atol").value_or(static_cast<double>(tolerance.int_atol)));
    if (const auto l2 = number("tol_rel_l2"); l2 && json.value("kind", "quant") == "quant") tolerance.rel_l2 = l2;
    if (const auto l2 = number("rel_l2")) tolerance.rel_l2 = l2;
  }
  return tolerance;
}

std::vector<const HostValue*> feeds(const onnxc_model& unit, const ModelSummary& model, const DataSet& data) {
  const auto in_unit = [&](const std::string& name) {
    return std::any_of(unit.inputs, unit.inputs + unit.input_count, [&](const onnxc_tensor_info& input) { return name == input.name; });
  };
  for (std::size_t i = 0; i < model.inputs.size(); ++i) {
    const BorderValue& input = model.inputs[i];
    if (!data.inputs[i] || !input.initial || in_unit(input.name)) continue;
    const Tolerance exact{0, 0};
    if (!compare(*data.inputs[i], *input.initial, exact).within) {
      throw Error(
          ErrorKind::Unsupported,
          fmt::format("the data gives input '{}' another value than its initialiser, which the unit holds as a constant", input.name));
    }
  }
  static const HostValue kEmptyOptional{ValueKind::Optional, {}, {}, {}};
  std::vector<const HostValue*> values;
  for (int32_t k = 0; k < unit.input_count; ++k) {
    const std::string name = unit.inputs[k].name;
    const int input = model.find_input(name);
    if (input < 0) throw Error(ErrorKind::Internal, fmt::format("the unit has an input '{}', which the model lacks", name));
    const auto& given = data.inputs[static_cast<std::size_t>(input)];
    const auto& initial = model.inputs[static_cast<std::size_t>(input)].initial;
    if (!given && !initial && unit.inputs[k].kind != ONNXC_OPTIONAL)
      throw Error(ErrorCode::DataMissing, fmt::format("{} has no value for input '{}'", data.folder.string(), name));
    values.push_back(given ? &*given : initial ? &*initial : &kEmptyOptional);
  }
  return values;
}

}  // namespace onnxc
