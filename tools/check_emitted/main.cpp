// Checks emitted units by clang's syntax tree: what their entries reach must not allocate, recurse, throw, keep state, loop without an end, or call what is not
// known. Says so by a line for each violation: file, line, rule, function. Exit status 0 if there is none, 1 if there is, 2 if a unit does not compile.
//
//   check_emitted [--allow FILE] [--plan FILE] UNIT.cpp... -- -std=c++20 -march=native -I runtime_stub
#include <clang/AST/ASTConsumer.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Tooling/CommonOptionsParser.h>
#include <clang/Tooling/Tooling.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

#include <stdexcept>

#include "tools/check_emitted/arena.h"
#include "tools/check_emitted/data.h"
#include "tools/check_emitted/verdict.h"

namespace onnxc::check_emitted {
namespace {

using namespace clang;

llvm::cl::OptionCategory category("check_emitted");
llvm::cl::list<std::string> allow("allow", llvm::cl::desc("more of what is allowed, in the form of allowed.txt"),
                                  llvm::cl::value_desc("FILE"), llvm::cl::cat(category));

llvm::cl::opt<std::string> plan(
    "plan",
    llvm::cl::desc("the memory plan, as onnxc --emit=program prints it with the unit's options: pointers into the arena are "
                   "checked, too; for one unit"),
    llvm::cl::value_desc("FILE"), llvm::cl::cat(category));

/// What all units together were found to do.
struct Total {
  Allowed allowed{check_emitted_data("allowed.txt")};
  std::map<std::string, MemoryPlan> plans{};
  std::size_t units = 0, violations = 0;
};

class Consumer : public ASTConsumer {
 public:
  Consumer(Total& total, std::string file) : total_(total), file_(std::move(file)) {}
  void HandleTranslationUnit(ASTContext& context) override {
    if (context.getDiagnostics().hasErrorOccurred()) return;
    Facts facts = collect_facts(context);
    std::size_t pointers = 0;
    if (!total_.plans.empty()) {
      ArenaFindings arena = check_arena(context, total_.plans);
      pointers = arena.pointers;
      facts.beside.insert(facts.beside.end(), arena.findings.begin(), arena.findings.end());
    }
    const Verdict verdict = judge(context, facts, total_.allowed);
    ++total_.units;
    total_.violations += verdict.violations.size();
    llvm::outs() << file_ << ": " << verdict.entries << " entries, " << verdict.reached << " functions, " << verdict.leaves << " leaves, "
                 << (total_.plans.empty() ? "" : std::to_string(pointers) + " pointers into the arena, ") << verdict.excused << " excused, "
                 << verdict.violations.size() << " violations\n";
    for (const Violation& v : verdict.violations)
      llvm::outs() << "  " << v.file << ":" << v.line << ": " << name(v.rule) << ": " << v.what
                   << (v.function.empty() ? "" : " in " + v.function) << "\n";
  }

 private:
  Total& total_;
  std::string file_;
};

class Action : public ASTFrontendAction {
 public:
  explicit Action(Total& total) : total_(total) {}
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance&, StringRef file) override {
    return std::make_unique<Consumer>(total_, file.str());
  }

 private:
  Total& total_;
};

class Actions : public tooling::FrontendActionFactory {
 public:
  explicit Actions(Total& total) : total_(total) {}
  std::unique_ptr<FrontendAction> create() override { return std::make_unique<Action>(total_); }

 private:
  Total& total_;
};

int run(int argc, const char** argv) {
  auto parser = tooling::CommonOptionsParser::create(argc, argv, category);
  if (!parser) {
    llvm::errs() << llvm::toString(parser.takeError());
    return 2;
  }
  Total total;
  for (const std::string& file : allow) {
    const auto text = llvm::MemoryBuffer::getFile(file);
    if (!text) {
      llvm::errs() << file << " cannot be read\n";
      return 2;
    }
    total.allowed.add(Allowed((*text)->getBuffer()));
  }
  if (!plan.empty()) {
    const auto text = llvm::MemoryBuffer::getFile(plan);
    if (!text) {
      llvm::errs() << plan << " cannot be read\n";
      return 2;
    }
    total.plans = read_plans((*text)->getBuffer());
  }
  tooling::ClangTool tool(parser->getCompilations(), parser->getSourcePathList());
  tool.appendArgumentsAdjuster(
      tooling::getInsertArgumentAdjuster({"-resource-dir", ONNXC_CLANG_RESOURCES}, tooling::ArgumentInsertPosition::BEGIN));
  Actions actions(total);
  if (tool.run(&actions) != 0) return 2;
  llvm::outs() << total.units << " units, " << total.violations << " violations\n";
  return total.violations > 0 ? 1 : 0;
}

}  // namespace
}  // namespace onnxc::check_emitted

int main(int argc, const char** argv) {
  try {
    return onnxc::check_emitted::run(argc, argv);
  } catch (const std::invalid_argument& e) {
    llvm::errs() << "what is allowed, or the plan: " << e.what() << "\n";
    return 2;
  }
}
