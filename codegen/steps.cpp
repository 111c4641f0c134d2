#include "codegen/steps.h"

#include <fmt/format.h>

#include <sstream>

#include "codegen/names.h"
#include "codegen/requirements.h"

namespace onnxc {
namespace {

std::string comment_line(const std::string& space, int number, const Step& step) {
  return fmt::format("{}// {}: {}\n", space, number, comment_text(step.what, kLongestStep));
}

}  // namespace

std::string StepsText::bookkeeping(const Step& step) const {
  const auto text = [&](Dim d) { return cpp_dim(d, symbols); };
  const auto name = [&](BufferId id) { return buffer_names[id]; };
  return std::visit(
      Overloaded{
          [](const Call&) { return std::string(); },
          [](const If&) { return std::string(); },
          [](const Loop&) { return std::string(); },
          [&](const Declare& declare) {
            std::string out;
            for (std::size_t i = 0; i < declare.symbols.size(); ++i)
              out += fmt::format("[[maybe_unused]] std::int64_t {} = {};\n", text(declare.symbols[i]), text(declare.values[i]));
            return out;
          },
          [&](const DeclareBuffer& declare) {
            const Buffer& buffer = program[declare.buffer];
            if (buffer.space == Buffer::Space::Object) return fmt::format("onnxc_value {}{{}};\n", name(declare.buffer).substr(1));
            return fmt::format("{}{}* {} = nullptr;\n", buffer.borrowed ? "const " : "", info(buffer.element).cpp_name,
                               name(declare.buffer));
          },
          [&](const Assign& assign) {
            const DimList &symbols = assign.symbols, &values = assign.values;
            if (symbols.size() == 1) return fmt::format("{} = {};\n", text(symbols[0]), text(values[0]));
            std::string out = "{\n";
            for (std::size_t i = 0; i < symbols.size(); ++i) out += fmt::format("  const std::int64_t next_{} = {};\n", i, text(values[i]));
            for (std::size_t i = 0; i < symbols.size(); ++i) out += fmt::format("  {} = next_{};\n", text(symbols[i]), i);
            return out + "}\n";
          },
          [&](const Bind& bind) {
            std::string out;
            for (std::size_t i = 0; i < bind.symbols.size(); ++i)
              out += fmt::format("[[maybe_unused]] const std::int64_t {} = onnxc::extent_of(({})[{}]);\n", text(bind.symbols[i]),
                                 dialect.pointer(bind.elements, false), i);
            return out;
          },
          [&](const Require& require) { return requirement_check(require.requirement, symbols); },
          [&](const Allocate& allocate) {
            return fmt::format("if (const auto status = heap.allocate({}, {})) return status;\n", name(allocate.buffer),
                               text(allocate.elements));
          },
          [&](const MoveBuffer& move) {
            const std::string to = name(move.buffer);
            if (program[move.buffer].is_value) return fmt::format("*{} = {};\n", to, dialect.pointee(move.from));
            return fmt::format("heap.release({});\n{} = {};\n", to, to, dialect.pointer(move.from, false));
          },
          [&](const Release& release) { return fmt::format("heap.release({});\n", name(release.buffer)); },
          [&](const StoreShape& store) {
            return fmt::format("onnxc::store_shape({}, {});\n", shape_pointers.at(store.output), cpp_list(store.extents, symbols));
          },
      },
      step.action);
}

/// The first step and those that follow it without waiting. With a profile, which measures each step, threads wait
/// after each step.
std::span<const Step> StepsText::concurrent_with(std::span<const Step> steps) const {
  std::size_t last = 1;
  while (threads && profile == nullptr && last < steps.size() && is_concurrent(steps[last])) ++last;
  return steps.first(last);
}

std::string StepsText::statement(const Call& call, bool shared, bool forked) const {
  const std::string text = dialect.call(call, shared, forked) + ";";
  return call.specialised ? fmt::format("[&]() ONNXC_SPECIALISED {{ {} }}();", text) : text;
}

std::string StepsText::share(std::span<const Step> group, const std::string& space) const {
  std::string out = "threads.run([&](onnxc::Share share) {\n";
  int whole = 0;
  for (const Step& step : group) {
    const bool shared = worth_sharing(*step.call());
    out += fmt::format("{}  {}{}\n", space, shared ? "" : fmt::format("if (share.index == {} % share.count) ", ++whole),
                       statement(*step.call(), shared, true));
  }
  return out + space + "});\n";
}

std::string StepsText::threads_of(const Call& call) const {
  if (always_worth_sharing(call)) return "threads";
  std::string worth;
  for (const auto& [work, fork] : {std::pair(call.macs, kForkMacs), std::pair(call.bytes, kForkBytes)})
    if (work.max_value() >= fork) worth += fmt::format("{}{} >= {}", worth.empty() ? "" : " || ", cpp_dim(work, symbols), fork);
  return fmt::format("threads.where({})", worth);
}

std::size_t StepsText::print_calls(std::span<const Step> steps, const std::string& space, int& number, std::string& out) const {
  if (const std::string before = dialect.before(*steps.front().call()); !before.empty()) out += space + before + "\n";
  if (const auto group = concurrent_with(steps); group.size() > 1) {
    for (const Step& other : group.subspan(1)) out += comment_line(space, ++number, other);
    out += space + share(group, space);
    return group.size();
  }
  const Call& call = *steps.front().call();
  const char* const attribute = call.specialised ? "ONNXC_SPECIALISED " : "";
  for (Dim symbol : call.binds) out += fmt::format("{}[[maybe_unused]] std::int64_t {} = 0;\n", space, cpp_dim(symbol, symbols));
  const bool returns = call.fallible && call.items == Dim(0);
  const auto returned = [&] { return fmt::format("if (const auto status = {}) return status;", dialect.call(call, false, false)); };
  if (profile != nullptr && call.device == Device::Gpu)
    out += space + profile->on_gpu(steps.front(), returns ? returned() : statement(call, false, false)) + "\n";
  else if (const bool shared = threads && worth_sharing(call); profile != nullptr)
    out += space + profile->statement(steps.front(), dialect.call(call, shared, shared), shared ? threads_of(call) : "", attribute) + "\n";
  else if (shared)
    out +=
        fmt::format("{}{}.run([&](onnxc::Share share) {}{{ {}; }});\n", space, threads_of(call), attribute, dialect.call(call, true, true));
  else if (returns) out += space + returned() + "\n";
  else out += space + statement(call, false, false) + "\n";
  return 1;
}

void StepsText::print_loop(const Loop& loop, int indent, int& number, std::string& out) const {
  const std::string space(static_cast<std::size_t>(indent), ' ');
  const std::string i = cpp_dim(loop.iteration, symbols), most = cpp_dim(loop.most, symbols);
  std::string condition = loop.limited ? "" : fmt::format("{} < {}", i, most);
  if (loop.condition.buffer >= 0) condition += (condition.empty() ? "" : " && ") + dialect.pointee(loop.condition);
  out += fmt::format("{}for (std::int64_t {} = 0; {}; ++{}) {{\n", space, i, condition, i);
  if (loop.limited) out += fmt::format("{}  if ({} >= {}) return {{ONNXC_TRIP_LIMIT}};\n", space, i, most);
  print_steps(loop.body, indent + 2, number, out);
  out += fmt::format("{}}}\n", space);
}

void StepsText::print_steps(const std::vector<Step>& steps, int indent, int& number, std::string& out) const {
  const std::string space(static_cast<std::size_t>(indent), ' ');
  for (std::size_t at = 0; at < steps.size();) {
    const Step& step = steps[at];
    ++number;
    const If* const branches = std::get_if<If>(&step.action);
    const Loop* const loop = std::get_if<Loop>(&step.action);
    if (branches == nullptr && loop == nullptr && step.call() == nullptr) {
      std::istringstream lines(bookkeeping(step));
      for (std::string line; std::getline(lines, line);) out += space + line + "\n";
      ++at;
      continue;
    }
    out += comment_line(space, number, step);
    if (branches != nullptr) {
      out += fmt::format("{}if ({}) {{\n", space, dialect.pointee(branches->condition));
      print_steps(branches->then_steps, indent + 2, number, out);
      out += fmt::format("{}}} else {{\n", space);
      print_steps(branches->else_steps, indent + 2, number, out);
      out += fmt::format("{}}}\n", space);
    } else if (loop != nullptr) {
      print_loop(*loop, indent, number, out);
    }
    at += step.call() == nullptr ? 1 : print_calls(std::span(steps).subspan(at), space, number, out);
  }
}

std::string StepsText::print() const {
  std::string out;
  int number = 0;
  print_steps(program.steps, 2, number, out);
  return out;
}

}  // namespace onnxc
