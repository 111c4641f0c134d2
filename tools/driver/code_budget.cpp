#include "tools/driver/code_budget.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "codegen/elf.h"
#include "codegen/unit_names.h"
#include "compiler/support/error.h"

namespace onnxc {
namespace {

using namespace elf;

constexpr uint64_t kExecutable = 4;
constexpr unsigned char kFunction = 2;

[[noreturn]] void refuse() {
  throw Error(ErrorKind::Unsupported, "the size of the code is only known for ELF files of 64 bits", "leave --max-code out");
}

template <class T>
T read_at(std::string_view file, uint64_t at) {
  if (at > file.size() || file.size() - at < sizeof(T)) refuse();
  T value;
  std::memcpy(&value, file.data() + at, sizeof value);
  return value;
}

/// Demangles a name, without anonymous namespaces, whose parentheses look like parameters.
std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0 || !text) return name;
  std::string result = text.get();
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  for (std::size_t at = result.find(kAnonymous); at != result.npos; at = result.find(kAnonymous, at)) result.erase(at, kAnonymous.size());
  return result;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Whether `text` contains the expression's name after a namespace other than the runtime's, which has a Max of its
/// own.
bool names(const std::string& text, const std::string& expression) {
  const std::string word = "::" + expression;
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    if (at + word.size() != text.size() && is_word(text[at + word.size()])) continue;
    std::size_t first = at;
    while (first > 0 && (is_word(text[first - 1]) || text[first - 1] == ':')) --first;
    if (!std::string_view(text).substr(first).starts_with("onnxc::")) return true;
  }
  return false;
}

/// The leading numbers of template arguments: {4, 2} of `gemm<4, 2, Epilogue<...>>`.
std::vector<std::string> leading_numbers(const std::string& text) {
  std::vector<std::string> numbers;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(",>", at), text.size());
    std::string word = text.substr(at, end - at);
    std::erase(word, ' ');
    if (word.empty() || word.find_first_not_of("-0123456789") != word.npos) break;
    numbers.push_back(std::move(word));
    at = end + 1;
  }
  return numbers;
}

/// The expressions that the kernel is instantiated with.
std::vector<int> expressions(const Call& call) {
  std::vector<int> list;
  for (const TemplateArg& a : call.template_args) {
    if (const auto* const expr = std::get_if<ExprType>(&a)) list.push_back(expr->number);
  }
  for (const Arg& a : call.args) {
    if (const auto* const epilogue = std::get_if<EpilogueArg>(&a); epilogue != nullptr && epilogue->expr >= 0)
      list.push_back(epilogue->expr);
  }
  return list;
}

std::string share_text(const Program& program, const CodeSize::Function& function) {
  constexpr std::size_t kMost = 3;
  const std::vector<int> steps = steps_of_function(program, function.name);
  const std::string name = function.name.substr(0, function.name.find_first_of("<("));
  std::string text = fmt::format("{} bytes in {}", function.bytes, steps.empty() ? one_line(name.substr(name.rfind(' ') + 1)) : "");
  for (std::size_t i = 0; i < std::min(kMost, steps.size()); ++i) {
    for_each_step(program.steps, [&](const Step& step, int number) {
      if (number == steps[i])
        text += fmt::format("{}step {} {}", i == 0 ? "" : ", ", number + 1, one_line(step.what.substr(0, step.what.find(": "))));
    });
  }
  return text + (steps.size() > kMost ? fmt::format(" and {} more", steps.size() - kMost) : "");
}

}  // namespace

CodeSize code_size(std::string_view file) {
  const auto header = read_at<Header>(file, 0);
  if (std::memcmp(header.ident, Header().ident, 6) != 0) refuse();  // 64 bits, little endian
  const auto count =
      header.section_count != 0 ? header.section_count : read_at<Section>(file, header.section_headers).size;  // more than 65,279 of them
  const auto section = [&](uint64_t i) { return read_at<Section>(file, header.section_headers + i * sizeof(Section)); };
  CodeSize result;
  std::map<std::pair<uint16_t, uint64_t>, CodeSize::Function> functions;  // by address
  for (uint64_t i = 0; i < count; ++i) {
    const Section s = section(i);
    if ((s.flags & kExecutable) != 0) result.bytes += static_cast<int64_t>(s.size);
    if (s.type != kSymtab) continue;
    const uint64_t names = section(s.link).offset;
    for (uint64_t at = 0; at + sizeof(Symbol) <= s.size; at += sizeof(Symbol)) {
      const auto symbol = read_at<Symbol>(file, s.offset + at);
      if ((symbol.info & 0xf) != kFunction || symbol.section == 0 || symbol.size == 0) continue;
      if (names + symbol.name >= file.size()) refuse();
      const std::string_view rest = file.substr(names + symbol.name);
      functions.try_emplace({symbol.section, symbol.value},
                            CodeSize::Function{demangled(std::string(rest.substr(0, rest.find('\0')))), static_cast<int64_t>(symbol.size)});
    }
  }
  for (auto& [address, function] : functions) result.functions.push_back(std::move(function));
  std::ranges::stable_sort(result.functions, std::ranges::greater(), &CodeSize::Function::bytes);
  return result;
}

std::vector<int> steps_of_function(const Program& program, const std::string& function) {
  const std::vector<std::string> exprs = expr_names(program);
  std::vector<int> steps;
  std::size_t best = 0;
  const std::size_t end = std::min(function.find_first_of("<("), function.size());
  const std::string name = function.substr(0, end);
  const std::vector<std::string> numbers =
      end < function.size() && function[end] == '<' ? leading_numbers(function.substr(end + 1)) : std::vector<std::string>();
  for_each_call(program.steps, [&](const Call& call, int number) {
    if (call.function.empty()) return;
    // Of several steps with the same function, those with the most in common. A function that a kernel calls has only
    // its expressions.
    const std::string kernel = call.function.substr(call.function.rfind(':') + 1);
    const bool is_kernel = name.ends_with(kernel) && (name.size() == kernel.size() || !is_word(name[name.size() - kernel.size() - 1]));
    std::vector<std::string> given;  // the leading numbers of its arguments
    for (const TemplateArg& a : call.template_args) {
      if (!std::holds_alternative<int64_t>(a)) break;
      given.push_back(std::to_string(std::get<int64_t>(a)));
    }
    // A kernel's helper functions are named after it: winograd_forward.
    const bool is_part = name.substr(name.rfind(':') + 1).starts_with(kernel + '_');
    std::size_t agrees = is_kernel ? 1000 + (numbers == given ? 1u : 0u) : is_part ? 100 + kernel.size() : 0u;
    for (const int e : expressions(call)) agrees += names(function, exprs[static_cast<std::size_t>(e)]) ? 1u : 0u;
    if (agrees == 0 || agrees < best) return;
    if (agrees > best) steps.clear();
    best = agrees;
    steps.push_back(number);
  });
  return steps;
}

void check_code_budget(std::string_view file, const Program& program, int64_t max_code) {
  constexpr std::size_t kMost = 3;
  const CodeSize code = code_size(file);
  if (code.bytes <= max_code) return;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, code.functions.size()); ++i)
    text += (i == 0 ? ": " : "; ") + share_text(program, code.functions[i]);
  throw Error(ErrorKind::Budget, fmt::format("the code would take {} bytes, more than {}{}", code.bytes, max_code, text), "see --max-code");
}

}  // namespace onnxc
