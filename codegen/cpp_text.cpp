#include "codegen/cpp_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <vector>

namespace onnxc {

namespace {

constexpr double kSafeSum = 7;

double most_of(Dim dim);
double sum_of_most(Dim sum) {
  double all = 0;
  for (Dim a : sum.args()) all += most_of(a);
  return all;
}

/// The largest magnitude that an expression of run-time symbols may have, in units of onnxc::kHuge, the limit at
/// which its products saturate.
double most_of(Dim dim) {
  const auto arg = [&](std::size_t i) { return most_of(dim.args()[i]); };
  switch (dim.kind()) {
    case Dim::Kind::Constant: return std::abs(static_cast<double>(dim.value())) * 0x1p-60;
    // The caller's dimensions are checked through the sizes they occur in; integers read from data are clamped to
    // 2^40.
    case Dim::Kind::Symbol: return 0x1p-4;
    case Dim::Kind::Product: return 1;
    case Dim::Kind::Sum: {
      const double all = sum_of_most(dim);
      return all >= kSafeSum ? 1 : all;  // it saturates itself
    }
    case Dim::Kind::FloorDiv:
    case Dim::Kind::CeilDiv: return arg(0);
    case Dim::Kind::Mod: return arg(1);
    case Dim::Kind::Min:
    case Dim::Kind::Max:
    case Dim::Kind::Broadcast: return std::max(arg(0), arg(1));
  }
  return 1;
}

}  // namespace

std::string cpp_dim(Dim dim, const SymbolNames& symbols) {
  const auto arg = [&](std::size_t i) { return cpp_dim(dim.args()[i], symbols); };
  const auto call = [&](const char* f) { return fmt::format("onnxc::{}({}, {})", f, arg(0), arg(1)); };
  switch (dim.kind()) {
    case Dim::Kind::Constant: return std::to_string(dim.value());
    case Dim::Kind::Symbol: return symbols.at(dim.name());
    case Dim::Kind::Sum: {
      std::string all;
      if (dim.depends_on_run() && sum_of_most(dim) >= kSafeSum) {
        for (std::size_t i = 0; i < dim.args().size(); ++i) all = i == 0 ? arg(i) : fmt::format("onnxc::sum_of({}, {})", all, arg(i));
        return all;
      }
      for (std::size_t i = 0; i < dim.args().size(); ++i) {
        const std::string term = arg(i);
        if (i == 0) all = term;
        else all += term[0] == '-' ? " - " + term.substr(1) : " + " + term;
      }
      return all;
    }
    case Dim::Kind::Product: {
      if (dim.depends_on_run()) {  // data may contain any value
        std::string all = arg(0);
        for (std::size_t i = 1; i < dim.args().size(); ++i) all = fmt::format("onnxc::product_of({}, {})", all, arg(i));
        return all;
      }
      std::string all;
      for (Dim factor : dim.args()) all += (all.empty() ? "" : " * ") + cpp_factor(factor, symbols);
      return all;
    }
    case Dim::Kind::FloorDiv: return call("floor_div");
    case Dim::Kind::CeilDiv: return call("ceil_div");
    case Dim::Kind::Mod: return call("mod");
    case Dim::Kind::Min: return call("min_of");
    case Dim::Kind::Max: return call("max_of");
    case Dim::Kind::Broadcast: return call("broadcast_of");
  }
  return "0";
}

std::string cpp_factor(Dim dim, const SymbolNames& symbols) {
  const std::string text = cpp_dim(dim, symbols);
  return dim.kind() == Dim::Kind::Sum ? "(" + text + ")" : text;
}

std::string cpp_list(const DimList& dims, const SymbolNames& symbols) {
  std::string list;
  for (Dim d : dims) list += (list.empty() ? "" : ", ") + cpp_dim(d, symbols);
  return "{" + list + "}";
}

std::string cpp_constant(ElementType type, uint64_t bits) {
  const auto decimal = [](auto value, const char* suffix) {
    std::string text = fmt::format("{}", value);
    if (text.find_first_of(".e") == text.npos) text += ".0";
    return text + suffix;
  };
  const double value = from_bits(type, bits);
  switch (type) {
    case ElementType::F32:
    case ElementType::F64: {
      const bool f32 = type == ElementType::F32;
      if (std::isnan(value)) return fmt::format("std::bit_cast<{}>(std::uint{}_t{{{:#x}}})", info(type).cpp_name, f32 ? 32 : 64, bits);
      if (std::isinf(value)) return fmt::format("{}std::numeric_limits<{}>::infinity()", value < 0 ? "-" : "", info(type).cpp_name);
      return f32 ? decimal(static_cast<float>(value), "f") : decimal(value, "");
    }
    case ElementType::Bool: return bits != 0 ? "true" : "false";
    case ElementType::I64: {
      const auto v = static_cast<int64_t>(bits);
      return v == INT64_MIN ? "std::numeric_limits<std::int64_t>::min()" : fmt::format("std::int64_t{{{}}}", v);
    }
    case ElementType::U64: return fmt::format("std::uint64_t{{{}u}}", bits);
    case ElementType::I32:
      return value == -2147483648.0 ? "std::numeric_limits<std::int32_t>::min()"
                                    : fmt::format("std::int32_t{{{}}}", static_cast<int64_t>(value));
    default: break;
  }
  if (is_integer(type)) return fmt::format("{}{{{}}}", info(type).cpp_name, static_cast<int64_t>(value));
  return fmt::format("{}::from_bits({:#x})", info(type).cpp_name, bits);
}

std::string cpp_expr_struct(const std::string& name, const Expr& expr, bool both) {
  const int inputs = expr.input_count();
  std::string classes = "class L", parameters = "[[maybe_unused]] L lanes";
  for (int i = 0; i < inputs; ++i) {
    classes += fmt::format(", class X{}", i);
    parameters += fmt::format(", [[maybe_unused]] X{} x{}", i, i);
  }
  std::vector<std::string> terms(expr.terms.size()), statements(expr.terms.size());
  for (std::size_t i = 0; i < expr.terms.size(); ++i) {
    const Expr::Term& t = expr.terms[i];
    const auto arg = [&](int k) { return terms[static_cast<std::size_t>(t.args[k])]; };
    if (t.kind == Expr::Kind::Input) {
      terms[i] = fmt::format("x{}", t.args[0]);
      continue;
    }
    std::string text;
    if (t.kind == Expr::Kind::Constant) {
      text = fmt::format("lanes({})", cpp_constant(t.type, t.bits));
    } else {
      std::string args;
      for (int j = 0; j < info(t.fn).arity; ++j) args += (j == 0 ? "" : ", ") + arg(j);
      text = names_type(t.fn) ? fmt::format("onnxc::fn::{}<{}>({})", info(t.fn).name, info(t.type).cpp_name, args)
                              : fmt::format("onnxc::fn::{}({})", info(t.fn).name, args);
    }
    terms[i] = fmt::format("t{}", i);
    statements[i] = fmt::format("    const auto {} = {};\n", terms[i], text);
  }
  return fmt::format("struct {} {{  // {}\n  {}template <{}>\n  static {} auto apply({}) {{\n{}    return {};\n  }}\n}};\n", name,
                     expr.text(), both ? "ONNXC_EITHER " : "", classes, both ? "ONNXC_BOTH" : "ONNXC_INLINE", parameters,
                     fmt::join(statements, ""), terms.back());
}

}  // namespace onnxc
