#include "compiler/ir/program.h"

#include <fmt/format.h>

#include <algorithm>

namespace onnxc {
namespace {

void visit_arg(Arg& arg, const std::function<void(PointerArg&)>& visit) {
  if (auto* pointer = std::get_if<PointerArg>(&arg)) visit(*pointer);
  if (auto* address = std::get_if<AddressArg>(&arg)) {
    PointerArg pointer{address->buffer, true};
    visit(pointer);
  }
  if (auto* tensor = std::get_if<TensorArg>(&arg)) visit(tensor->pointer);
  if (auto* form = std::get_if<FormArg>(&arg)) visit(form->pointer);
  if (auto* epilogue = std::get_if<EpilogueArg>(&arg)) {
    for (auto& operand : epilogue->operands) visit(operand.pointer);
  }
  if (auto* params = std::get_if<std::shared_ptr<ParamsArg>>(&arg)) {
    for (auto& [name, value] : (*params)->members) visit_arg(value, visit);
  }
}

const char* kind_name(Step::Kind kind) {
  switch (kind) {
    case Step::Kind::Call: return "call";
    case Step::Kind::If: return "if";
    case Step::Kind::Loop: return "loop";
    case Step::Kind::Declare: return "declare";
    case Step::Kind::Assign: return "assign";
    case Step::Kind::Bind: return "bind";
    case Step::Kind::Require: return "require";
    case Step::Kind::Allocate: return "allocate";
    case Step::Kind::Move: return "move";
    case Step::Kind::Release: return "release";
    case Step::Kind::Shape: return "shape";
  }
  return "?";
}

}  // namespace

Dim total_macs(const Program& program) {
  Dim macs = 0;
  try {
    for_each_step(program.steps, [&](const Step& step, int) { macs += step.macs; });
  } catch (const SizeOverflow&) {
    return INT64_MAX;
  }
  return macs;
}

double predicted_ns(const Program& program) {
  double sum = 0;
  for_each_step(program.steps, [&](const Step& step, int) { sum += step.cost_ns; });
  return sum;
}

const char* place_name(Buffer::Place place) {
  switch (place) {
    case Buffer::Place::Input: return "input";
    case Buffer::Place::Output: return "output";
    case Buffer::Place::Weights: return "weights";
    case Buffer::Place::Arena: return "arena";
    case Buffer::Place::Heap: return "heap";
    case Buffer::Place::Object: return "object";
  }
  return "?";
}

double forks_worth(int64_t macs, int64_t bytes) {
  return std::max(static_cast<double>(macs) / kForkMacs, static_cast<double>(bytes) / kForkBytes);
}

bool worth_sharing(const Step& step) {
  return step.parallel && !step.fallible && forks_worth(step.macs.max_value(), step.bytes.max_value()) >= 1;
}

bool always_worth_sharing(const Step& step) {
  return worth_sharing(step) && forks_worth(value_near(1, step.macs), value_near(1, step.bytes)) >= 1;
}

std::string step_label(const Step& step) { return step.kind == Step::Kind::Call ? step.row : kind_name(step.kind); }

namespace {

void print_steps(const Program& program, const std::vector<Step>& steps, int indent, int& number, std::string& out) {
  for (const Step& step : steps) {
    out += fmt::format("{:>{}}{:>4}  {:<28} ", "", indent, number++, step_label(step));
    for_each_pointer(step, [&](const PointerArg& p) { out += fmt::format("{}%{} ", p.writes ? ">" : "", p.buffer); });
    out += " # " + step.what + "\n";
    for (const auto& block : step.blocks) {
      out += fmt::format("{:>{}}{{\n", "", indent + 4);
      print_steps(program, block, indent + 4, number, out);
      out += fmt::format("{:>{}}}}\n", "", indent + 4);
    }
  }
}

}  // namespace

void for_each_pointer(Step& step, const std::function<void(PointerArg&)>& visit) {
  if (step.condition.buffer >= 0) visit(step.condition);
  if (step.buffer >= 0) {
    PointerArg pointer{step.buffer, true};
    visit(pointer);
  }
  for (Arg& arg : step.args) visit_arg(arg, visit);
}

void for_each_pointer(const Step& step, const std::function<void(const PointerArg&)>& visit) {
  for_each_pointer(const_cast<Step&>(step), [&](PointerArg& p) { visit(p); });  // visit sees it const
}

BufferId root_of(const Program& program, BufferId buffer) {
  while (program[buffer].parent >= 0) buffer = program[buffer].parent;
  return buffer;
}

std::string print_program(const Program& program) {
  std::string out = fmt::format("program '{}'\narena {} bytes, lower bound {}, {} without sharing\n", program.name,
                                program.arena_bytes.text(), program.lower_bound.text(), program.unshared_bytes.text());
  out += "buffers\n";
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const Buffer& b = program.buffers[i];
    out += fmt::format("  %{:<4} {:<8} {:>12} bytes  {}{} '{}'", i, place_name(b.place), b.bytes.text(), name(b.element), text(b.extents),
                       b.name);
    if (b.parent >= 0) out += fmt::format(" in %{} at {}", b.parent, b.offset.text());
    else if (b.place == Buffer::Place::Arena) out += fmt::format(" at {} live [{}, {})", b.offset.text(), b.first, b.last);
    out += "\n";
  }
  for (std::size_t i = 0; i < program.exprs.size(); ++i) out += fmt::format("  E{} = {}\n", i, program.exprs[i].text());
  out += "steps\n";
  int number = 0;
  print_steps(program, program.steps, 0, number, out);
  return out;
}

}  // namespace onnxc
