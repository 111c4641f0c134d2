#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/src.hpp>  // its library, so that none is linked

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "serving/json_number.h"
#include "serving/protocol.h"

namespace onnxc::serving {
namespace {

namespace json = boost::json;

[[noreturn]] void refuse(const std::string& what) { throw RequestError(400, what); }

constexpr std::size_t kMostTensors = 4096;

/// An input as it is read: which of its members mean something depends on its type, which may come last.
struct Draft {
  std::string name, type;
  std::vector<int64_t> shape;
  bool has_shape = false, has_data = false;
  std::optional<uint64_t> binary_bytes;
  std::vector<Number> numbers;
  std::vector<bool> truths;
  std::string texts;  // one behind the other
  std::vector<std::size_t> text_ends;
};

/// Takes the parser's events.
class Handler {
 public:
  static constexpr std::size_t max_object_size = SIZE_MAX, max_array_size = SIZE_MAX, max_key_size = 1 << 10, max_string_size = SIZE_MAX;

  std::vector<Draft> inputs;
  std::vector<WantedOutput> outputs;
  std::vector<bool> states_form;  // of each output
  std::string id;
  bool is_binary = false;

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_object_begin(json::error_code&) {
    enter(object_within());
    return true;
  }
  bool on_object_end(std::size_t, json::error_code&) { return leave(); }
  bool on_array_begin(json::error_code&) {
    enter(array_within());
    return true;
  }
  bool on_array_end(std::size_t, json::error_code&) { return leave(); }
  bool on_key_part(json::string_view part, std::size_t, json::error_code&) { return add(part); }
  bool on_key(json::string_view part, std::size_t, json::error_code&) {
    text_.append(part.data(), part.size());
    key_ = std::exchange(text_, {});
    return true;
  }
  bool on_string_part(json::string_view part, std::size_t, json::error_code&) { return add(part); }
  bool on_string(json::string_view part, std::size_t, json::error_code&) {
    text_.append(part.data(), part.size());
    string(text_);
    text_.clear();
    return true;
  }
  bool on_number_part(json::string_view part, json::error_code&) { return add(part); }
  bool on_int64(int64_t value, json::string_view, json::error_code&) {
    text_.clear();
    Number number{Number::Kind::Signed, {}};
    number.as_signed = value;
    return take(number);
  }
  bool on_uint64(uint64_t value, json::string_view, json::error_code&) {
    text_.clear();
    Number number{Number::Kind::Unsigned, {}};
    number.as_unsigned = value;
    return take(number);
  }
  bool on_double(double near, json::string_view part, json::error_code&) {
    // The parser's own value may be off in the last digit.
    if (!text_.empty()) text_.append(part.data(), part.size());
    const std::string_view all = text_.empty() ? std::string_view(part.data(), part.size()) : std::string_view(text_);
    Number number{Number::Kind::Real, {}};
    number.as_real = 0;
    const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), number.as_real);
    if (error == std::errc::result_out_of_range && std::abs(near) > 1) refuse("a number is beyond what 64 bits of floating point hold");
    if (error == std::errc::result_out_of_range) number.as_real = std::copysign(0.0, near);
    else if (error != std::errc() || end != all.data() + all.size()) number.as_real = near;
    text_.clear();
    return take(number);
  }
  bool on_bool(bool value, json::error_code&) {
    switch (at()) {
      case At::Data: inputs.back().truths.push_back(value); break;
      case At::Shape: refuse("a shape is made of integers");
      case At::Parameters:
        if (key_ == "binary_data_output") is_binary = value;
        break;
      case At::OutputParameters:
        if (key_ == "binary_data") outputs.back().is_binary = value, states_form.back() = true;
        break;
      default: break;
    }
    return true;
  }
  bool on_null(json::error_code&) {
    if (at() == At::Data || at() == At::Shape) refuse("null is no element of a tensor");
    return true;
  }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

 private:
  enum class At { Nothing, Root, Inputs, Input, InputParameters, Shape, Data, Outputs, Output, OutputParameters, Parameters, Other };

  At at() const { return within_.empty() ? At::Nothing : within_.back(); }
  bool leave() {
    within_.pop_back();
    return true;
  }
  bool add(json::string_view part) {
    text_.append(part.data(), part.size());
    return true;
  }

  At object_within() const {
    switch (at()) {
      case At::Nothing: return At::Root;
      case At::Inputs: return At::Input;
      case At::Outputs: return At::Output;
      case At::Shape:
      case At::Data: refuse("an object is no element of a tensor");
      case At::Root:
        if (key_ == "inputs" || key_ == "outputs") refuse("'" + key_ + "' is an array");
        return key_ == "parameters" ? At::Parameters : At::Other;
      case At::Input:
        if (key_ == "data" || key_ == "shape") refuse("'" + key_ + "' is an array");
        return key_ == "parameters" ? At::InputParameters : At::Other;
      case At::Output: return key_ == "parameters" ? At::OutputParameters : At::Other;
      default: return At::Other;
    }
  }
  At array_within() const {
    switch (at()) {
      case At::Nothing: refuse("a request is an object");
      case At::Inputs: refuse("an input is an object");
      case At::Outputs: refuse("an output is an object");
      case At::Data: return At::Data;  // tensors may be nested
      case At::Shape: refuse("a shape is made of integers");
      case At::Root: return key_ == "inputs" ? At::Inputs : key_ == "outputs" ? At::Outputs : At::Other;
      case At::Input: return key_ == "shape" ? At::Shape : key_ == "data" ? At::Data : At::Other;
      default: return At::Other;
    }
  }
  void enter(At next) {
    const At before = at();
    within_.push_back(next);
    if (next == At::Input) inputs.emplace_back();
    if (next == At::Output) outputs.emplace_back(), states_form.push_back(false);
    if (inputs.size() > kMostTensors || outputs.size() > kMostTensors) refuse("there are more tensors than any model has");
    if (next == At::Shape && std::exchange(inputs.back().has_shape, true)) refuse("an input has two shapes");
    if (next == At::Data && before == At::Input && std::exchange(inputs.back().has_data, true)) refuse("an input has its data twice");
  }

  void string(const std::string& value) {
    switch (at()) {
      case At::Nothing: refuse("a request is an object");
      case At::Inputs: refuse("an input is an object");
      case At::Outputs: refuse("an output is an object");
      case At::Shape: refuse("a shape is made of integers");
      case At::Root:
        if (key_ == "id") id = value;
        break;
      case At::Input:
        if (key_ == "name") inputs.back().name = value;
        if (key_ == "datatype") inputs.back().type = value;
        break;
      case At::Output:
        if (key_ == "name") outputs.back().name = value;
        break;
      case At::Data:
        inputs.back().texts += value;
        inputs.back().text_ends.push_back(inputs.back().texts.size());
        break;
      case At::InputParameters:
      case At::OutputParameters:
        if (key_ == "shared_memory_region") refuse("shared memory is not supported: send tensors as binary data");
        break;
      default: break;
    }
  }
  bool take(const Number& number) {
    switch (at()) {
      case At::Nothing: refuse("a request is an object");
      case At::Inputs: refuse("an input is an object");
      case At::Outputs: refuse("an output is an object");
      case At::Data: inputs.back().numbers.push_back(number); break;
      case At::Shape:
        if (number.kind != Number::Kind::Signed || number.as_signed < 0) refuse("a shape is made of integers from 0");
        inputs.back().shape.push_back(number.as_signed);
        if (inputs.back().shape.size() > 2 * ONNXC_MAX_RANK) refuse("a shape has more axes than any model");
        break;
      case At::InputParameters:
        if (key_ == "binary_data_size") {
          if (number.kind != Number::Kind::Signed || number.as_signed < 0) refuse("binary_data_size is a number of bytes");
          inputs.back().binary_bytes = static_cast<uint64_t>(number.as_signed);
        }
        break;
      case At::OutputParameters:
        if (key_ == "classification" && number.real() != 0)
          refuse("the extension 'classification' is not supported: ask for the output itself");
        break;
      default: break;
    }
    return true;
  }

  std::vector<At> within_;
  std::string key_, text_;
};

void take_json_data(const Draft& draft, InputTensor& tensor, InferRequest& request) {
  const std::string who = "input '" + tensor.name + "': ";
  const auto count = static_cast<std::size_t>(tensor.count);
  const auto need = [&](std::size_t found, std::size_t others) {
    if (others > 0) refuse(who + "its elements are not all of datatype " + std::string(tensor.type->name));
    if (found != count) refuse(who + std::to_string(found) + " elements, and its shape has " + std::to_string(count));
  };
  std::string& bytes = request.converted.emplace_back();
  if (tensor.type->is_string()) {
    need(draft.text_ends.size(), draft.numbers.size() + draft.truths.size());
    bytes = draft.texts;
    std::size_t begin = 0;
    for (const std::size_t end : draft.text_ends) {
      tensor.strings.push_back({bytes.data() + begin, end - begin});
      begin = end;
    }
    return;
  }
  if (tensor.type->name == "BOOL") {
    need(draft.truths.size(), draft.numbers.size() + draft.text_ends.size());
    for (const bool truth : draft.truths) bytes += static_cast<char>(truth);
    tensor.data = bytes.data();
    return;
  }
  const StoreNumber store = store_of(*tensor.type);
  if (store == nullptr) refuse(who + "JSON has no " + std::string(tensor.type->name) + ": send it as binary data");
  need(draft.numbers.size(), draft.truths.size() + draft.text_ends.size());
  bytes.resize(count * tensor.type->bytes);
  for (std::size_t i = 0; i < count; ++i) store(draft.numbers[i], bytes.data() + i * tensor.type->bytes, tensor.name);
  tensor.data = bytes.data();
}

/// Strings in binary: each is its length in four bytes, and then so many.
void take_binary_strings(std::string_view bytes, InputTensor& tensor) {
  const std::string who = "input '" + tensor.name + "': ";
  while (!bytes.empty()) {
    if (bytes.size() < 4) refuse(who + "its binary data end within the length of a string");
    uint32_t size = 0;
    std::memcpy(&size, bytes.data(), 4);
    bytes.remove_prefix(4);
    if (size > bytes.size()) refuse(who + "a string is longer than its binary data");
    tensor.strings.push_back({bytes.data(), size});
    bytes.remove_prefix(size);
  }
  if (tensor.strings.size() != static_cast<std::size_t>(tensor.count))
    refuse(who + std::to_string(tensor.strings.size()) + " strings, and its shape has " + std::to_string(tensor.count) + " elements");
}

void take_binary_data(std::string_view bytes, InputTensor& tensor) {
  if (tensor.type->is_string()) return take_binary_strings(bytes, tensor);
  if (static_cast<std::size_t>(tensor.count) * tensor.type->bytes != bytes.size())
    refuse("input '" + tensor.name + "': " + std::to_string(bytes.size()) + " bytes of binary data, and its shape has " +
           std::to_string(static_cast<std::size_t>(tensor.count) * tensor.type->bytes));
  if (tensor.type->name == "BOOL") {
    for (const char c : bytes) {
      if (c != 0 && c != 1) refuse("input '" + tensor.name + "': a BOOL is 0 or 1");
    }
  }
  tensor.data = bytes.data();
}

}  // namespace

std::shared_ptr<InferRequest> read_request(std::string body, std::optional<std::size_t> json_bytes) {
  const auto request = std::make_shared<InferRequest>();
  request->body = std::move(body);
  std::string_view rest(request->body);
  if (json_bytes.value_or(rest.size()) > rest.size()) refuse("Inference-Header-Content-Length is longer than the body");
  const std::string_view text = rest.substr(0, json_bytes.value_or(rest.size()));
  rest.remove_prefix(text.size());

  json::basic_parser<Handler> parser{json::parse_options()};
  json::error_code error;
  const std::size_t read = parser.write_some(false, text.data(), text.size(), error);
  if (error) {
    const bool is_name = read < text.size() && (text[read] == 'N' || text[read] == 'I');
    refuse("the body is not JSON, at byte " + std::to_string(read) + ": " + error.message() +
           (is_name ? "; JSON has no NaN and no infinity, which binary data have" : ""));
  }
  if (read != text.size())
    refuse("the body goes on after its JSON, at byte " + std::to_string(read) +
           "; where binary data follow, Inference-Header-Content-Length says so");
  Handler& handler = parser.handler();
  request->id = handler.id;
  request->is_binary = handler.is_binary;
  for (std::size_t k = 0; k < handler.outputs.size(); ++k) {
    if (!handler.states_form[k]) handler.outputs[k].is_binary = handler.is_binary;
  }
  request->outputs = std::move(handler.outputs);
  for (Draft& draft : handler.inputs) {
    InputTensor tensor;
    tensor.name = draft.name;
    const std::string who = "input '" + draft.name + "': ";
    tensor.type = find_type(draft.type);
    if (tensor.type == nullptr)
      refuse(who + (draft.type.empty() ? "its datatype is missing" : "there is no datatype '" + draft.type + "'"));
    if (!draft.has_shape) refuse(who + "its shape is missing");
    tensor.shape = draft.shape;
    tensor.count = 1;
    for (const int64_t extent : tensor.shape) {
      // No request holds more elements than bytes, so sizes below do not overflow.
      if (__builtin_mul_overflow(tensor.count, extent, &tensor.count) || tensor.count > INT32_MAX * int64_t{256})
        refuse(who + "its shape is larger than any request");
    }
    if (draft.binary_bytes) {
      if (draft.has_data) refuse(who + "data and binary_data_size are two ways to give the same");
      if (*draft.binary_bytes > rest.size()) refuse(who + "binary_data_size is beyond the end of the body");
      take_binary_data(rest.substr(0, *draft.binary_bytes), tensor);
      rest.remove_prefix(*draft.binary_bytes);
    } else {
      if (!draft.has_data) refuse(who + "its data are missing");
      take_json_data(draft, tensor, *request);
    }
    request->inputs.push_back(std::move(tensor));
  }
  const bool is_json = std::ranges::none_of(handler.inputs, [](const Draft& draft) { return draft.binary_bytes.has_value(); });
  if (is_json && rest.empty()) request->body = {};  // nothing points to it
  if (!rest.empty()) refuse(std::to_string(rest.size()) + " bytes of binary data belong to no input");
  return request;
}

}  // namespace onnxc::serving
