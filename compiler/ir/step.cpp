#include "compiler/ir/step.h"

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

}  // namespace

void for_each_pointer(Step& step, const std::function<void(PointerArg&)>& visit) {
  const auto written = [&](BufferId buffer) {
    PointerArg pointer{buffer, true};
    visit(pointer);
  };
  std::visit(Overloaded{
                 [&](Call& call) {
                   for (Arg& arg : call.args) visit_arg(arg, visit);
                 },
                 [&](If& branches) { visit(branches.condition); },
                 [&](Loop& loop) {
                   if (loop.condition.buffer >= 0) visit(loop.condition);
                 },
                 [](Declare&) {},
                 [&](DeclareBuffer& declare) { written(declare.buffer); },
                 [](Assign&) {},
                 [&](Bind& bind) { visit(bind.elements); },
                 [](Require&) {},
                 [&](Allocate& allocate) { written(allocate.buffer); },
                 [&](MoveBuffer& move) {
                   visit(move.from);
                   written(move.buffer);
                 },
                 [&](Release& release) { written(release.buffer); },
                 [&](StoreShape& store) { written(store.output); },
             },
             step.action);
}

void for_each_pointer(const Step& step, const std::function<void(const PointerArg&)>& visit) {
  for_each_pointer(const_cast<Step&>(step), [&](PointerArg& p) { visit(p); });  // visit sees it const
}

DimList symbols_bound(const Step& step) {
  return std::visit(Overloaded{
                        [](const Call& call) { return call.binds; },
                        [](const If&) { return DimList(); },
                        [](const Loop& loop) { return DimList{loop.iteration}; },
                        [](const Declare& declare) { return declare.symbols; },
                        [](const DeclareBuffer&) { return DimList(); },
                        [](const Assign& assign) { return assign.symbols; },
                        [](const Bind& bind) { return bind.symbols; },
                        [](const Require&) { return DimList(); },
                        [](const Allocate&) { return DimList(); },
                        [](const MoveBuffer&) { return DimList(); },
                        [](const Release&) { return DimList(); },
                        [](const StoreShape&) { return DimList(); },
                    },
                    step.action);
}

DimList sizes_of(const Step& step) {
  return std::visit(Overloaded{
                        [](const Call&) { return DimList(); },
                        [](const If&) { return DimList(); },
                        [](const Loop& loop) { return DimList{loop.most}; },
                        [](const Declare& declare) { return declare.values; },
                        [](const DeclareBuffer&) { return DimList(); },
                        [](const Assign& assign) { return assign.values; },
                        [](const Bind&) { return DimList(); },
                        [](const Require& require) { return DimList{require.requirement.a, require.requirement.b}; },
                        [](const Allocate& allocate) { return DimList{allocate.elements}; },
                        [](const MoveBuffer&) { return DimList(); },
                        [](const Release&) { return DimList(); },
                        [](const StoreShape& store) { return store.extents; },
                    },
                    step.action);
}

bool is_concurrent(const Step& step) { return step.call() != nullptr && step.call()->concurrent; }

double forks_worth(int64_t macs, int64_t bytes) {
  return std::max(static_cast<double>(macs) / kForkMacs, static_cast<double>(bytes) / kForkBytes);
}

bool worth_sharing(const Call& call) {
  return call.parallel && !call.fallible && forks_worth(call.macs.max_value(), call.bytes.max_value()) >= 1;
}

bool always_worth_sharing(const Call& call) {
  return worth_sharing(call) && forks_worth(value_near(1, call.macs), value_near(1, call.bytes)) >= 1;
}

std::string step_label(const Step& step) {
  return std::visit(Overloaded{
                        [](const Call& call) { return call.kernel; },
                        [](const If&) { return std::string("if"); },
                        [](const Loop&) { return std::string("loop"); },
                        [](const Declare&) { return std::string("declare"); },
                        [](const DeclareBuffer&) { return std::string("declare"); },
                        [](const Assign&) { return std::string("assign"); },
                        [](const Bind&) { return std::string("bind"); },
                        [](const Require&) { return std::string("require"); },
                        [](const Allocate&) { return std::string("allocate"); },
                        [](const MoveBuffer&) { return std::string("move"); },
                        [](const Release&) { return std::string("release"); },
                        [](const StoreShape&) { return std::string("shape"); },
                    },
                    step.action);
}

}  // namespace onnxc
