// The text of a file in pieces. Large pieces are produced while they are written, so that they are never in memory as a
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
  /// Writes a piece to a sink, a little at a time, and the same one each time.
  using Writer = std::function<void(const Sink&)>;

  Text() = default;
  explicit Text(std::string text) { pieces_.emplace_back(std::move(text)); }
  explicit Text(Writer writer) { pieces_.emplace_back(std::move(writer)); }

  Text& operator+=(std::string_view text) {
    if (pieces_.empty() || !std::holds_alternative<std::string>(pieces_.back())) pieces_.emplace_back(std::string());
    std::get<std::string>(pieces_.back()) += text;
    return *this;
  }
  Text& operator+=(Writer writer) {
    pieces_.emplace_back(std::move(writer));
    return *this;
  }
  Text& operator+=(Text&& text) {
    pieces_.insert(pieces_.end(), std::make_move_iterator(text.pieces_.begin()), std::make_move_iterator(text.pieces_.end()));
    return *this;
  }

  /// All of it, in order.
  void write(const Sink& sink) const {
    for (const auto& piece : pieces_) {
      if (const std::string* text = std::get_if<std::string>(&piece)) sink(*text);
      else std::get<Writer>(piece)(sink);
    }
  }
  std::string str() const {
    std::string all;
    write([&](std::string_view text) { all += text; });
    return all;
  }

 private:
  std::vector<std::variant<std::string, Writer>> pieces_;
};

}  // namespace onnxc
