#include "tools/driver/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "compiler/ir/expr.h"
#include "compiler/support/error_codes.h"

namespace onnxc {

namespace fs = std::filesystem;

std::vector<fs::path> data_sets_for(const fs::path& model, const std::optional<fs::path>& data) {
  const fs::path folder = model.parent_path().empty() ? fs::path(".") : model.parent_path();
  const std::vector<fs::path> sets = find_data_sets(data.value_or(folder));
  if (data && sets.empty())
    throw Error(ErrorCode::CannotRead, fmt::format("{} holds neither input_0.pb nor test_data_set_0", data->string()));
  return sets;
}

Feed find_feed(const fs::path& model, const std::optional<fs::path>& data, const CompiledModel& unit) {
  Feed feed{summarize_model(model)};
  const std::vector<fs::path> sets = data_sets_for(model, data);
  if (sets.empty()) {
    feed.made_up = random_inputs(*unit.model);
    for (const HostValue& value : feed.made_up) feed.inputs.push_back(&value);
  } else {
    feed.data = read_data_set(sets[0], feed.model, unit.outermost);
    feed.inputs = feeds(*unit.model, feed.model, *feed.data);
  }
  return feed;
}

std::vector<HostValue> random_inputs(const onnxc_model& unit, std::span<const int64_t> symbols) {
  const auto extent_of = [&](std::size_t symbol) {
    return symbols.empty() ? std::max<int64_t>(1, unit.symbols[symbol].min) : symbols[symbol];
  };
  std::mt19937_64 random(1);
  std::vector<HostValue> values;
  for (int32_t k = 0; k < unit.input_count; ++k) {
    const onnxc_tensor_info& input = unit.inputs[k];
    if (input.form == ONNXC_VALUE)
      throw Error(ErrorCode::NoMadeUpData, fmt::format("no made-up data for input '{}'", input.name), "give --data");
    std::vector<int64_t> shape;
    for (int32_t axis = 0; axis < input.rank; ++axis) {
      const int64_t extent = input.shape[axis];
      if (extent == INT64_MIN)
        throw Error(ErrorCode::NoMadeUpData, fmt::format("no made-up data for input '{}'", input.name), "give --data");
      shape.push_back(extent >= 0 ? extent : extent_of(static_cast<std::size_t>(-1 - extent)));
    }
    const auto type = element_type_numbered(input.elem_type).value_or(ElementType::Undefined);
    TensorData& tensor = values.emplace_back(HostValue::of(TensorData::zeros(type, shape))).tensor;
    for (std::string& text : tensor.strings) text = static_cast<char>('a' + random() % 26);
    if (type == ElementType::String) continue;
    const auto width = static_cast<std::size_t>(info(type).bits) / 8;
    const auto count = static_cast<std::size_t>(tensor.count());
    for (std::size_t i = 0; i < count && width > 0; ++i) {
      uint64_t bits = random() >> 16;
      if (type != ElementType::U8 && type != ElementType::I8) bits &= 1;
      if (is_float(type)) bits = to_bits(type, static_cast<double>(random() >> 11) * 0x1p-52 - 1);
      for (std::size_t part = 0; part < width; part += sizeof bits)
        std::memcpy(tensor.bytes.data() + i * width + part, &bits, std::min(width, sizeof bits));
    }
  }
  return values;
}

}  // namespace onnxc
