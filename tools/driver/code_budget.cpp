#include "tools/driver/code_budget.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <memory>
#include <utility>

#include "codegen/unit_names.h"
#include "compiler/support/error.h"
#include "compiler/support/error_codes.h"
#include "tools/driver/elf_file.h"

namespace onnxc {

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0 || !text) return name;
  std::string result = text.get();
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  for (std::size_t at = result.find(kAnonymous); at != result.npos; at = result.find(kAnonymous, at)) result.erase(at, kAnonymous.size());
  return result;
}

namespace {

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
  const ElfFile elf = read_elf(file);
  CodeSize result;
  for (const ElfFile::Section& section : elf.sections) result.bytes += section.is_code ? section.bytes : 0;
  std::map<std::pair<uint32_t, uint64_t>, CodeSize::Function> functions;  // by address
  for (const ElfFile::Function& f : elf.functions)
    functions.try_emplace({f.section, f.address}, CodeSize::Function{demangled(std::string(f.name)), f.bytes});
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
  throw Error(ErrorCode::CodeLimit, fmt::format("the code would take {} bytes, more than {}{}", code.bytes, max_code, text),
              "see --max-code");
}

}  // namespace onnxc
