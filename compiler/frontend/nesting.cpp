#include "compiler/frontend/nesting.h"

#include <cstdint>
#include <string>
#include <vector>

namespace onnxc {
namespace {

/// The messages of onnx.proto that may contain themselves.
enum class Kind { Model, Function, Graph, Node, Attribute, Value, Type, Sequence, Map, Optional };

std::optional<Kind> message_in(Kind kind, uint64_t field) {
  switch (kind) {
    case Kind::Model: return field == 7 ? std::optional(Kind::Graph) : field == 25 ? std::optional(Kind::Function) : std::nullopt;
    case Kind::Function: return field == 7 ? std::optional(Kind::Node) : std::nullopt;
    case Kind::Graph:
      return field == 1 ? std::optional(Kind::Node) : field >= 11 && field <= 13 ? std::optional(Kind::Value) : std::nullopt;
    case Kind::Node: return field == 5 ? std::optional(Kind::Attribute) : std::nullopt;
    case Kind::Attribute:
      return field == 6 || field == 11 ? std::optional(Kind::Graph) : field == 14 || field == 15 ? std::optional(Kind::Type) : std::nullopt;
    case Kind::Value: return field == 2 ? std::optional(Kind::Type) : std::nullopt;
    case Kind::Type:
      return field == 4   ? std::optional(Kind::Sequence)
             : field == 5 ? std::optional(Kind::Map)
             : field == 9 ? std::optional(Kind::Optional)
                          : std::nullopt;
    case Kind::Map: return field == 2 ? std::optional(Kind::Type) : std::nullopt;
    case Kind::Sequence:
    case Kind::Optional: return field == 1 ? std::optional(Kind::Type) : std::nullopt;
  }
  return std::nullopt;
}

struct Message {
  Kind kind;
  std::size_t end;
  std::string name{}, output{}, op{};
};

/// Reads protobuf's wire format. Its results are empty where the bytes end too early.
class MessageReader {
 public:
  explicit MessageReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::size_t at() const { return at_; }
  bool skip(uint64_t count) {
    if (count > bytes_.size() - at_) return false;
    at_ += static_cast<std::size_t>(count);
    return true;
  }
  std::optional<uint64_t> varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_ == bytes_.size()) return std::nullopt;
      const auto byte = std::to_integer<uint64_t>(bytes_[at_++]);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }
  std::string text(std::size_t count) const { return {reinterpret_cast<const char*>(bytes_.data()) + at_, count}; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

Diagnostic describe(const std::vector<Message>& open) {
  for (const Message& m : open) {
    if (m.kind == Kind::Node) return {m.name.empty() ? m.output : m.name, m.op, "graphs are nested too deeply"};
    if (m.kind == Kind::Value) return {m.name, "", "its type is nested too deeply"};
  }
  return {"", "", "graphs are nested too deeply"};
}

}  // namespace

std::optional<Diagnostic> find_deep_nesting(std::span<const std::byte> model, std::size_t most) {
  enum { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
  MessageReader in(model);
  std::vector<Message> open{{Kind::Model, model.size()}};
  while (!open.empty()) {
    if (open.size() > most) return describe(open);
    Message& m = open.back();
    if (in.at() == m.end) {
      open.pop_back();
      continue;
    }
    const auto tag = in.varint();
    if (!tag || in.at() > m.end) return std::nullopt;
    const uint64_t field = *tag >> 3;
    switch (*tag & 7) {
      case kVarint:
        if (!in.varint()) return std::nullopt;
        break;
      case kFixed64:
        if (!in.skip(8)) return std::nullopt;
        break;
      case kFixed32:
        if (!in.skip(4)) return std::nullopt;
        break;
      case kBytes: {
        const auto count = in.varint();
        if (!count || in.at() > m.end || *count > m.end - in.at()) return std::nullopt;
        const auto size = static_cast<std::size_t>(*count);
        if (const auto inner = message_in(m.kind, field)) {
          open.push_back({*inner, in.at() + size});
          break;
        }
        if (m.kind == Kind::Value && field == 1) m.name = in.text(size);
        if (m.kind == Kind::Node && field == 2 && m.output.empty()) m.output = in.text(size);
        if (m.kind == Kind::Node && field == 3) m.name = in.text(size);
        if (m.kind == Kind::Node && field == 4) m.op = in.text(size);
        in.skip(size);
        break;
      }
      default: return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace onnxc
