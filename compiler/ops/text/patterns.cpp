// RegexFullMatch, and ONNX Runtime's Tokenizer: patterns are compiled to programs before the model runs.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/kernel_query.h"
#include "compiler/ops/ml/classes.h"
#include "compiler/ops/text/automaton.h"
#include "compiler/ops/text/regex.h"
#include "runtime_stub/onnxc/scalar/text/regex.hpp"

namespace onnxc {
namespace {

void need_strings(Inference& n) {
  if (n.element(0) != ElementType::String) n.fail(fmt::format("the input is {}, not strings", name(n.element(0))));
}

scalar::Regex view(const RegexProgram& p) { return {p.code.data(), p.ranges.data(), static_cast<int64_t>(p.code.size() / 3)}; }

NamedArgs regex_params(KernelQuery& l, const RegexProgram& p) {
  NamedArgs args{{"code", l.weights("pattern", ElementType::I32, p.code)},
                 {"ranges", l.weights("pattern", ElementType::I32, p.ranges)},
                 {"size", dim_arg(view(p).size)}};
  if (const auto a = make_automaton(p)) {
    args.push_back({"automaton", params_arg(automaton_params(l, *a))});
  }
  return args;
}

PointerArg room(KernelQuery& l, const RegexProgram& p) {
  return l.workspace("threads", ElementType::I64, scalar::regex_room(view(p).size));
}

// ---- RegexFullMatch

RegexProgram pattern_of(const Node& node) {
  if (!node.has("pattern")) node.fail(ErrorKind::Invalid, "has no pattern");
  return compile_regex(node, node.string("pattern", ""));
}

void infer_regex_full_match(Inference& n) {
  need_strings(n);
  pattern_of(n.node());
  n.output(0, ElementType::Bool, n.extents(0));
}

void evaluate_regex_full_match(Evaluation& e) {
  const RegexProgram p = pattern_of(e.node());
  std::vector<int64_t> threads(static_cast<std::size_t>(scalar::regex_room(view(p).size)));
  scalar::regex_full_match(e.out<bool>().data, e.in<onnxc_string>(0), view(p), threads.data());
}

void lower_regex_full_match(KernelQuery& l) {
  const RegexProgram p = pattern_of(l.node());
  const View x = l.in(0), y = l.out(0);
  l.call("scalar_regex_full_match").pointer(y).tensor(x).params(regex_params(l, p)).pointer(room(l, p)).emit();
}

// ---- com.microsoft.Tokenizer

}  // namespace

TokenPattern token_pattern(const Node& node) {
  const std::string tokens = node.string("tokenexp", "");
  const std::vector<std::string> separators = strings_of(node, "separators");
  if (tokens.empty() == separators.empty()) node.fail(ErrorKind::Invalid, "needs either separators or tokenexp");
  if (!tokens.empty()) return {compile_regex(node, tokens), false};
  if (separators.size() == 1 && separators[0].empty()) return {compile_regex(node, "(?s:.)"), false};  // characters
  std::string all;
  for (const std::string& separator : separators) {
    if (separator.empty()) node.fail(ErrorKind::Invalid, "has an empty separator among others");
    all += fmt::format("{}(?:{})", all.empty() ? "" : "|", separator);
  }
  return {compile_regex(node, all), true};
}

namespace {

void infer_tokenizer(Inference& n) {
  need_strings(n);
  token_pattern(n.node());
  Extents y = n.extents(0);
  if (y.size() != 1 && y.size() != 2) n.fail(fmt::format("the input has shape {}, not [C] or [N, C]", text(y)));
  if (n.node().integer("mincharnum", 1) < 1) n.fail(fmt::format("mincharnum is {}", n.node().integer("mincharnum", 1)));
  y.push_back(n.fresh("tokens"));
  n.output(0, ElementType::String, std::move(y));
}

void lower_tokenizer(KernelQuery& l) {
  const TokenPattern tokens = token_pattern(l.node());
  const View x = l.in(0), y = l.out_address(0, false);
  l.call("scalar_tokenizer")
      .heap()
      .address(y)
      .binds(l.symbol(0))
      .tensor(x)
      .params(regex_params(l, tokens.program))
      .params({{"separates", flag_arg(tokens.separates)},
               {"marks", flag_arg(l.node().integer("mark", 0) != 0)},
               {"least", dim_arg(l.node().integer("mincharnum", 1))}})
      .pointer(l.weights("pad", *string_constant({l.node().string("pad_value", "")}, {1})))
      .pointer(room(l, tokens.program))
      .emit();
}

}  // namespace

extern const Operator op_RegexFullMatch, op_Tokenizer;
const Operator op_RegexFullMatch{.name = "RegexFullMatch",
                                 .min_inputs = 1,
                                 .max_inputs = 1,
                                 .max_outputs = 1,
                                 .infer = infer_regex_full_match,
                                 .evaluate = evaluate_regex_full_match,
                                 .lower = lower_regex_full_match};
const Operator op_Tokenizer{.name = "Tokenizer",
                            .domain = "com.microsoft",
                            .min_inputs = 1,
                            .max_inputs = 1,
                            .max_outputs = 1,
                            .infer = infer_tokenizer,
                            .lower = lower_tokenizer};

}  // namespace onnxc
