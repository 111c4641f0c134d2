#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include "serving/protocol.h"

namespace onnxc::serving {
namespace {

template <class T>
void append_number(std::string& text, T value) {
  std::array<char, 32> digits{};
  if constexpr (std::is_floating_point_v<T>) {
    // What clients read that write the same: Python's json and RapidJSON.
    if (std::isnan(value)) return text += "NaN", void();
    if (std::isinf(value)) return text += value > 0 ? "Infinity" : "-Infinity", void();
  }
  text.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
}

template <class T>
void append_numbers(std::string& text, const void* data, int64_t begin, int64_t count) {
  const T* const elements = static_cast<const T*>(data) + begin;
  for (int64_t i = 0; i < count; ++i) {
    if (i > 0) text += ',';
    append_number(text, elements[i]);
  }
}

void append_elements(std::string& text, const DataType& type, const std::string& name, const void* data, int64_t begin, int64_t count) {
  switch (type.onnx) {
    case 1: return append_numbers<float>(text, data, begin, count);
    case 2: return append_numbers<uint8_t>(text, data, begin, count);
    case 3: return append_numbers<int8_t>(text, data, begin, count);
    case 4: return append_numbers<uint16_t>(text, data, begin, count);
    case 5: return append_numbers<int16_t>(text, data, begin, count);
    case 6: return append_numbers<int32_t>(text, data, begin, count);
    case 7: return append_numbers<int64_t>(text, data, begin, count);
    case 11: return append_numbers<double>(text, data, begin, count);
    case 12: return append_numbers<uint32_t>(text, data, begin, count);
    case 13: return append_numbers<uint64_t>(text, data, begin, count);
    case 9:
      for (int64_t i = 0; i < count; ++i)
        text += std::string(i > 0 ? "," : "") + (static_cast<const char*>(data)[begin + i] != 0 ? "true" : "false");
      return;
    case 8:
      for (int64_t i = 0; i < count; ++i) {
        const onnxc_string& element = static_cast<const onnxc_string*>(data)[begin + i];
        const std::string_view bytes(element.data, element.size);
        if (!is_utf8(bytes)) throw RequestError(400, "output '" + name + "' is no UTF-8: ask for it with \"binary_data\": true");
        text += (i > 0 ? "," : "") + json_string(bytes);
      }
      return;
    default:
      throw RequestError(
          400, "output '" + name + "' is " + std::string(type.name) + ", which JSON does not have: ask for it with \"binary_data\": true");
  }
}

std::string binary_elements(const DataType& type, const void* data, int64_t begin, int64_t count) {
  if (!type.is_string()) {
    const char* const bytes = static_cast<const char*>(data);
    return count == 0 ? std::string()
                      : std::string(bytes + static_cast<std::size_t>(begin) * type.bytes, static_cast<std::size_t>(count) * type.bytes);
  }
  std::string out;
  for (int64_t i = 0; i < count; ++i) {
    const onnxc_string& element = static_cast<const onnxc_string*>(data)[begin + i];
    if (element.size > UINT32_MAX) throw RequestError(400, "a string is longer than the protocol has them");
    const auto size = static_cast<uint32_t>(element.size);
    out.append(reinterpret_cast<const char*>(&size), 4);
    out.append(element.data, element.size);
  }
  return out;
}

}  // namespace

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::size_t more = byte < 0x80                   ? 0
                             : byte >= 0xc2 && byte < 0xe0 ? 1
                             : byte >= 0xe0 && byte < 0xf0 ? 2
                             : byte >= 0xf0 && byte < 0xf5 ? 3
                                                           : 4;
    if (more == 4 || text.size() - i <= more) return false;
    for (std::size_t k = 1; k <= more; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) & 0xc0) != 0x80) return false;
    }
    const auto second = more > 0 ? static_cast<unsigned char>(text[i + 1]) : 0;
    // Forms that are too long, surrogates, and what lies beyond U+10FFFF.
    if ((byte == 0xe0 && second < 0xa0) || (byte == 0xed && second > 0x9f) || (byte == 0xf0 && second < 0x90) ||
        (byte == 0xf4 && second > 0x8f))
      return false;
    i += more + 1;
  }
  return true;
}

std::string json_string(std::string_view text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "\"";
  const bool is_valid = is_utf8(text);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') (out += '\\') += c;
    else if (c == '\n') out += "\\n";
    else if (byte < 0x20 || byte == 0x7f) ((out += "\\u00") += kDigits[byte >> 4]) += kDigits[byte & 15];
    else if (byte >= 0x80 && !is_valid) out += "\xef\xbf\xbd";
    else out += c;
  }
  return out += '"';
}

Answer write_answer(const Job& job, const Servable& servable, const std::string& model, const std::string& version) {
  const InferRequest& request = *job.request;
  std::vector<WantedOutput> wanted = request.outputs;
  if (wanted.empty()) {
    for (const Servable::Tensor& output : servable.outputs()) wanted.push_back({output.name, request.is_binary});
  }
  std::string binary;
  Answer answer;
  std::string& text = answer.body;
  text = "{\"model_name\":" + json_string(model) + ",\"model_version\":" + json_string(version);
  if (!request.id.empty()) text += ",\"id\":" + json_string(request.id);
  text += ",\"outputs\":[";
  bool is_first = true, has_binary = false;
  for (const WantedOutput& output : wanted) {
    const auto found = std::ranges::find(servable.outputs(), output.name, &Servable::Tensor::name);
    const RunResult::Output& all = job.result->outputs[static_cast<std::size_t>(found - servable.outputs().begin())];
    std::vector<int64_t> shape = all.shape;
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    int64_t begin = 0;
    if (job.all_rows > job.rows) {
      const int64_t row = count / job.all_rows;
      shape[0] = job.rows;
      begin = job.first_row * row;
      count = job.rows * row;
    }
    text += (is_first ? "{\"name\":" : ",{\"name\":") + json_string(output.name) + ",\"datatype\":\"" + std::string(all.type->name) +
            "\",\"shape\":[";
    is_first = false;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) text += (axis > 0 ? "," : "") + std::to_string(shape[axis]);
    if (output.is_binary) {
      const std::size_t before = binary.size();
      binary += binary_elements(*all.type, all.data, begin, count);
      has_binary = true;
      text += "],\"parameters\":{\"binary_data_size\":" + std::to_string(binary.size() - before) + "}}";
    } else {
      text += "],\"data\":[";
      append_elements(text, *all.type, output.name, all.data, begin, count);
      text += "]}";
    }
  }
  text += "]}";
  if (has_binary) answer.json_bytes = text.size();
  text += binary;
  return answer;
}

}  // namespace onnxc::serving
