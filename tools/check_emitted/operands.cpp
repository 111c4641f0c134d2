#include "tools/check_emitted/operands.h"

#include <clang/AST/ExprCXX.h>

#include <optional>
#include <sstream>
#include <stdexcept>

namespace onnxc::check_emitted {
namespace {

using namespace clang;
using Numbers = std::optional<std::vector<int64_t>>;

/// `{…}` behind conversions and constructors that take it as it is; null if there is none.
const InitListExpr* braces(const Expr* e) {
  while (e != nullptr) {
    e = e->IgnoreParenCasts();
    if (const auto* list = dyn_cast<InitListExpr>(e)) return list;
    if (const auto* made = dyn_cast<MaterializeTemporaryExpr>(e)) e = made->getSubExpr();
    else if (const auto* bound = dyn_cast<CXXBindTemporaryExpr>(e)) e = bound->getSubExpr();
    else if (const auto* list_of = dyn_cast<CXXStdInitializerListExpr>(e)) e = list_of->getSubExpr();
    else if (const auto* field = dyn_cast<CXXDefaultInitExpr>(e)) e = field->getExpr();
    else if (const auto* built = dyn_cast<CXXConstructExpr>(e); built != nullptr && built->getNumArgs() == 1) e = built->getArg(0);
    else return nullptr;
  }
  return nullptr;
}

llvm::StringRef record_name(QualType type) {
  const CXXRecordDecl* const record = type.getNonReferenceType()->getAsCXXRecordDecl();
  return record == nullptr ? "" : record->getName();
}

/// The integers of a Shape or of Ints.
Numbers numbers(const Expr* e, const SizeValues& values, const ASTContext& context) {
  const InitListExpr* const list = braces(e);
  std::vector<int64_t> found;
  if (list == nullptr) {
    const auto* const built = dyn_cast<CXXConstructExpr>(e->IgnoreParenCasts());
    return built != nullptr && built->getNumArgs() == 0 ? Numbers(found) : std::nullopt;
  }
  for (const Expr* one : list->inits()) {
    const auto value = size_value(*one, values, context);
    if (!value) return std::nullopt;
    found.push_back(*value);
  }
  return found;
}

/// Members of an aggregate by name, with those that are not written out.
std::map<std::string, const Expr*> members(const InitListExpr& list) {
  std::map<std::string, const Expr*> found;
  const CXXRecordDecl* const record = list.getType()->getAsCXXRecordDecl();
  const InitListExpr* const semantic = list.isSemanticForm() || list.getSemanticForm() == nullptr ? &list : list.getSemanticForm();
  unsigned k = 0;
  for (const FieldDecl* field : record->fields()) {
    if (k < semantic->getNumInits()) found.emplace(field->getNameAsString(), semantic->getInit(k++));
  }
  return found;
}

/// Where sums of i_k * strides[k] lie for i below `shape`. Strides that are missing are 0.
Operand walked(const Expr* pointer, const std::vector<int64_t>& shape, const std::vector<int64_t>& strides) {
  Operand operand{pointer, 0, 1};
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (shape[k] <= 0) return {pointer, 0, 0};
    const int64_t reach = k < strides.size() ? (shape[k] - 1) * strides[k] : 0;
    (reach < 0 ? operand.first : operand.last) += reach;
  }
  return operand;
}

class Reader {
 public:
  Reader(const SizeValues& values, const ASTContext& context) : values_(values), context_(context) {}

  /// Of tensors, wherever they stand among the arguments.
  void tensors(const Stmt* part) {
    if (part == nullptr) return;
    const auto* const list = dyn_cast<InitListExpr>(part);
    if (list != nullptr && record_name(list->getType()) == "Tensor") {
      const auto of = members(*list);
      const auto shape = of.contains("shape") ? read(of.at("shape")) : std::nullopt;
      if (!shape || !of.contains("data")) return;
      int64_t count = 1;
      for (const int64_t extent : *shape) count *= extent;
      operands.push_back({of.at("data"), 0, count});
      return;
    }
    for (const Stmt* inner : part->children()) tensors(inner);
  }

  /// map(share, shape, operands...)
  void streams(const CallExpr& call) {
    const auto shape = read(call.getArg(1));
    if (!shape || shape->empty()) return;
    for (unsigned k = 2; k < call.getNumArgs(); ++k) {
      const InitListExpr* const list = braces(call.getArg(k));
      if (list == nullptr) continue;
      const auto of = members(*list);
      const llvm::StringRef kind = record_name(list->getType());
      if (!of.contains("data") || !of.contains("outer")) continue;
      auto strides = read(of.at("outer"));
      if (!strides && is_none(of.at("outer"))) strides.emplace();
      const Numbers inner = kind == "Strided" ? read_one(of.at("inner")) : Numbers(std::vector<int64_t>{kind == "Stream" ? 1 : 0});
      if (!strides || !inner) continue;
      strides->resize(shape->size() - 1);
      strides->push_back(inner->front());
      operands.push_back(walked(of.at("data"), *shape, *strides));
    }
  }

  /// strided_copy(share, shape, to, strides, from, strides), which may have something between.
  void copies(const CallExpr& call) {
    const auto shape = read(call.getArg(1));
    if (!shape) return;
    for (unsigned k = 2; k + 1 < call.getNumArgs(); ++k) {
      if (!call.getArg(k)->getType()->isPointerType()) continue;
      if (const auto strides = read(call.getArg(k + 1))) operands.push_back(walked(call.getArg(k), *shape, *strides));
    }
  }

  /// kernel(share, operands..., parameters, ...)
  void parameters(const CallExpr& call, const FunctionDecl& kernel, const std::map<std::string, Dim>& rules) {
    const InitListExpr* list = nullptr;
    for (const Expr* arg : call.arguments()) {
      const InitListExpr* const here = braces(arg);
      if (here != nullptr && record_name(here->getType()).ends_with("Params")) list = here;
    }
    if (list == nullptr) return;
    const auto of = members(*list);
    const Sizes sizes = sizes_of(of);
    const auto state = [&](const std::string& name, const Expr* pointer) {
      const auto rule = rules.find(name);
      std::map<std::string, Dim> needs;
      if (rule == rules.end()) return;
      rule->second.collect_symbols(needs);
      for (const auto& [symbol, dim] : needs) {
        if (!sizes.contains(symbol)) return;
      }
      operands.push_back({pointer, 0, rule->second.evaluate(sizes)});
    };
    for (unsigned k = 0; k < call.getNumArgs() && k < kernel.getNumParams(); ++k) {
      if (call.getArg(k)->getType()->isPointerType()) state(kernel.getParamDecl(k)->getNameAsString(), call.getArg(k));
    }
    for (const auto& [name, value] : of) {
      if (value->getType()->isPointerType()) state(name, value);
    }
  }

  std::vector<Operand> operands;

 private:
  Numbers read(const Expr* e) const { return numbers(e, values_, context_); }
  Numbers read_one(const Expr* e) const {
    const auto value = size_value(*e, values_, context_);
    return value ? Numbers(std::vector<int64_t>{*value}) : std::nullopt;
  }

  /// The constant kNoStrides.
  static bool is_none(const Expr* e) {
    while (e != nullptr) {
      e = e->IgnoreParenCasts();
      if (const auto* field = dyn_cast<CXXDefaultInitExpr>(e)) e = field->getExpr();
      else if (const auto* built = dyn_cast<CXXConstructExpr>(e); built != nullptr && built->getNumArgs() == 1) e = built->getArg(0);
      else break;
    }
    const auto* const ref = dyn_cast_or_null<DeclRefExpr>(e);
    return ref != nullptr && ref->getNameInfo().getAsString() == "kNoStrides";
  }

  /// What is known of the members, as extents.txt names them.
  Sizes sizes_of(const std::map<std::string, const Expr*>& of) const {
    Sizes sizes;
    Numbers shape;
    for (const auto& [name, value] : of) {
      if (record_name(value->getType()) == "Shape") shape = read(value);
      else if (const auto known = value->getType()->isRecordType() || value->getType()->isPointerType()
                                      ? std::nullopt
                                      : size_value(*value, values_, context_))
        sizes[name] = *known;
    }
    for (const auto& [name, value] : of) {
      const llvm::StringRef kind = record_name(value->getType());
      if (kind == "Ints" && shape) {
        if (const auto strides = read(value)) sizes[name] = walked(nullptr, *shape, *strides).last - 1;
      } else if (const InitListExpr* const list = braces(value); kind == "HeadSteps" && list != nullptr) {
        for (const auto& [field, step] : members(*list)) {
          if (const auto known = size_value(*step, values_, context_)) sizes[name + "_" + field] = *known;
        }
      }
    }
    return sizes;
  }

  const SizeValues& values_;
  const ASTContext& context_;
};

}  // namespace

ExtentRules read_extent_rules(std::string_view text) {
  ExtentRules rules;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    std::vector<std::string> kernels;
    for (std::string word; words >> word;) {
      const std::size_t equals = word.find('=');
      if (equals == word.npos) kernels.push_back(word);
      else if (kernels.empty()) throw std::invalid_argument("line " + std::to_string(number) + ": it names no kernel");
      for (const std::string& kernel : kernels) {
        if (equals != word.npos) rules[kernel].emplace(word.substr(0, equals), parse_dim(word.substr(equals + 1)));
      }
    }
  }
  return rules;
}

std::vector<Operand> stated_operands(const CallExpr& call, const ExtentRules& rules, const SizeValues& values, const ASTContext& context) {
  const FunctionDecl* const kernel = call.getDirectCallee();
  if (kernel == nullptr || kernel->getQualifiedNameAsString().rfind("onnxc::", 0) != 0) return {};
  const std::string name = kernel->getNameAsString();
  Reader reader(values, context);
  if (name == "map" || name == "map_scalar") reader.streams(call);
  else if (name == "strided_copy" || name == "transposing_copy") reader.copies(call);
  else if (const auto rule = rules.find(name); rule != rules.end()) reader.parameters(call, *kernel, rule->second);
  for (const Expr* arg : call.arguments()) reader.tensors(arg);
  return std::move(reader.operands);
}

}  // namespace onnxc::check_emitted
