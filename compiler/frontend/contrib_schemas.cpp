#include "compiler/frontend/contrib_schemas.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>
#include <utility>

#include "compiler/support/error.h"

namespace onnxc {
namespace {

#include "compiler/frontend/contrib_schemas.inc"

/// Reads the table of contrib_schemas.inc. A malformed row is our own mistake.
class SchemaReader {
 public:
  explicit SchemaReader(std::string_view text) : rest_(text) {}

  std::map<std::pair<std::string, std::string>, ContribSchema> read() {
    std::map<std::pair<std::string, std::string>, ContribSchema> schemas;
    for (skip_space(); !rest_.empty(); skip_space()) {
      const std::string full_name = word();
      const std::size_t dot = full_name.rfind('.');
      const std::pair key{dot == full_name.npos ? "" : full_name.substr(0, dot),
                          dot == full_name.npos ? full_name : full_name.substr(dot + 1)};
      ONNXC_CHECK(schemas.emplace(key, row(key.first, key.second)).second, "an operator has one row");
    }
    return schemas;
  }

 private:
  struct Parameter {
    std::string name, type;
    onnx::OpSchema::FormalParameterOption option = onnx::OpSchema::Single;
    bool homogeneous = true;
    uint32_t ranks = 0;
  };

  void skip_space() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_[0]))) rest_.remove_prefix(1);
  }
  bool take(std::string_view sign) {
    skip_space();
    if (!rest_.starts_with(sign)) return false;
    rest_.remove_prefix(sign.size());
    return true;
  }
  void expect(std::string_view sign) { ONNXC_CHECK(take(sign), "a row of the schemas has its form"); }
  std::string word() {
    skip_space();
    std::size_t n = 0;
    while (n < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[n])) || rest_[n] == '_' || rest_[n] == '.')) ++n;
    ONNXC_CHECK(n > 0, "a row of the schemas has its form");
    std::string taken(rest_.substr(0, n));
    rest_.remove_prefix(n);
    return taken;
  }

  Parameter parameter() {
    Parameter p;
    p.name = word();
    if (take("?")) p.option = onnx::OpSchema::Optional;
    if (take("*")) p.option = onnx::OpSchema::Variadic;
    expect(":");
    p.type = word();
    if (p.type == "each") {
      p.homogeneous = false;
      p.type = word();
    }
    if (std::islower(static_cast<unsigned char>(p.type[0]))) p.type = "tensor(" + p.type + ")";  // not a type variable
    if (take("[")) {
      while (!take("]")) p.ranks |= uint32_t{1} << std::stoi(word());
    }
    return p;
  }

  std::vector<Parameter> parameters() {
    std::vector<Parameter> list;
    expect("(");
    while (!take(")")) {
      list.push_back(parameter());
      take(",");
    }
    return list;
  }

  static onnx::AttributeProto::AttributeType attribute_type(const std::string& kind) {
    std::string name = kind;
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    onnx::AttributeProto::AttributeType type{};
    ONNXC_CHECK(onnx::AttributeProto::AttributeType_Parse(name, &type), "an attribute has a type of ONNX");
    return type;
  }

  ContribSchema row(const std::string& domain, const std::string& name) {
    ContribSchema made{onnx::OpSchema(name, __FILE__, __LINE__), {}};
    onnx::OpSchema& schema = made.schema;
    schema.SetDomain(domain).SinceVersion(1);
    int i = 0;
    for (const Parameter& p : parameters()) {
      schema.Input(i++, p.name, "", p.type, p.option, p.homogeneous);
      made.ranks.push_back(p.ranks);
    }
    expect("->");
    i = 0;
    for (const Parameter& p : parameters()) schema.Output(i++, p.name, "", p.type, p.option, p.homogeneous);
    if (take("{")) {
      while (!take("}")) {
        const std::string attribute = word();
        const bool required = take("!");
        expect(":");
        schema.Attr(attribute, "", attribute_type(word()), required);
        take(",");
      }
    }
    if (take("where")) {
      do {
        const std::string variable = word();
        expect("=");
        std::vector<std::string> types;
        do types.push_back("tensor(" + word() + ")");
        while (take(","));
        schema.TypeConstraint(variable, types, "");
      } while (take(";"));
    }
    schema.Finalize();
    return made;
  }

  std::string_view rest_;
};

}  // namespace

const ContribSchema* find_contrib_schema(const std::string& domain, const std::string& op) {
  static const auto schemas = SchemaReader(kContribSchemas).read();
  const auto found = schemas.find({domain, op});
  return found == schemas.end() ? nullptr : &found->second;
}

}  // namespace onnxc
