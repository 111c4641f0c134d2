// Deterministic automata for programs of regular expressions; see runtime_stub/onnxc/scalar/text/regex.hpp.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ops/kernel_query.h"
#include "compiler/ops/text/regex.h"

namespace onnxc {

struct Automaton {
  std::vector<uint16_t> next;
  std::vector<uint8_t> classes;
  std::vector<int32_t> bounds;
  int32_t start = 0, accepting = 0;
  int32_t class_count = 0;
};

/// None where the program looks at places (the edges of words and lines), or where the automaton would be large.
std::optional<Automaton> make_automaton(const RegexProgram& program);
/// Whether there is a bound for the characters that it reads behind the last match, or in vain.
bool looks_ahead_a_little(const Automaton& automaton);
/// The members of scalar::RegexAutomaton.
NamedArgs automaton_params(KernelQuery& query, const Automaton& automaton);

/// What a Tokenizer looks for.
struct TokenPattern {
  RegexProgram program;
  bool separates = false;  ///< matches lie between the tokens
};
TokenPattern token_pattern(const Node& tokenizer);

}  // namespace onnxc
