// The text of a file in parts. Large parts are produced while they are written, so that they are never in memory as a
// whole.
#pragma once
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace onnxc {

class Text {
 public:
  using Sink = std::function<void(std::string_view)>;
  /// Gives a part to a sink, piece by piece, and the same one each time.
  using Part = std::function<void(const Sink&)>;

  Text& operator+=(std::string_view text) {
    if (parts_.empty() || !std::holds_alternative<std::string>(parts_.back())) parts_.emplace_back(std::string());
    std::get<std::string>(parts_.back()) += text;
    return *this;
  }
  Text& operator+=(Part part) {
    parts_.emplace_back(std::move(part));
    return *this;
  }
  Text& operator+=(Text&& text) {
    parts_.insert(parts_.end(), std::make_move_iterator(text.parts_.begin()), std::make_move_iterator(text.parts_.end()));
    return *this;
  }

  /// All of it, in order.
  void write(const Sink& sink) const {
    for (const auto& part : parts_) {
      if (const std::string* text = std::get_if<std::string>(&part)) sink(*text);
      else std::get<Part>(part)(sink);
    }
  }
  std::string str() const {
    std::string all;
    write([&](std::string_view piece) { all += piece; });
    return all;
  }

 private:
  std::vector<std::variant<std::string, Part>> parts_;
};

}  // namespace onnxc
