// Checks emitted units by clang's syntax tree: what their entries reach must not allocate, recurse, throw, keep state, loop without an end, or call what is not
// known. Says so by a line for each violation: file, line, rule, function. Exit status 0 if there is none, 1 if there is, 2 if a unit does not compile.
//
//   check_emitted [--allow FILE] [--plan FILE]... [--together] UNIT.cpp... -- -std=c++20 -march=native -I runtime_stub
#include <clang/AST/ASTConsumer.h>
#include <clang/Basic/FileManager.h>
#include <clang/Basic/SourceManager.h>
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
llvm::cl::list<std::string> plan(
    "plan",
    llvm::cl::desc("the memory plan, as onnxc --emit=program prints it with the unit's options: pointers into the arena are "
                   "checked, too; one for each unit, in their order"),
    llvm::cl::value_desc("FILE"), llvm::cl::cat(category));
llvm::cl::opt<bool> together("together", llvm::cl::desc("read all units as one translation unit, which reads the runtime's headers once"),
                             llvm::cl::cat(category));

/// Stands for the units that are read together.
constexpr const char* kAll = "/units-together.cpp";

struct Unit {
  std::string path;
  std::map<std::string, MemoryPlan> plans{};  ///< empty: none was given
};

/// What all units together were found to do.
struct Total {
  Allowed allowed{check_emitted_data("allowed.txt")};
  std::vector<Unit> of{};
  std::size_t units = 0, violations = 0;
};

class Consumer : public ASTConsumer {
 public:
  Consumer(Total& total, std::string file) : total_(total), file_(std::move(file)) {}

  void HandleTranslationUnit(ASTContext& context) override {
    if (context.getDiagnostics().hasErrorOccurred()) return;
    Facts facts = collect_facts(context);
    std::map<const Unit*, FileID> files;
    for (const Unit& unit : total_.of) {
      if (together || unit.path == file_) files.emplace(&unit, file_of(context, unit.path));
    }
    for (const Unit& unit : total_.of) {
      if (!files.contains(&unit)) continue;
      UnitFiles place{files.at(&unit), {}};
      for (const auto& [other, file] : files) {
        if (other != &unit) place.others.insert(file);
      }
      judge_unit(context, facts, unit, place);
    }
  }

 private:
  static FileID file_of(ASTContext& context, const std::string& path) {
    const SourceManager& sources = context.getSourceManager();
    const auto entry = sources.getFileManager().getOptionalFileRef(path);
    return entry ? sources.translateFile(*entry) : FileID();
  }

  void judge_unit(ASTContext& context, Facts& facts, const Unit& unit, const UnitFiles& place) {
    ArenaFindings arena;
    if (!unit.plans.empty()) arena = check_arena(context, unit.plans, place.own);
    const Verdict verdict = judge(context, facts, total_.allowed, place, arena.findings);
    ++total_.units;
    total_.violations += verdict.violations.size();
    llvm::outs() << unit.path << ": " << verdict.entries << " entries, " << verdict.reached << " functions, " << verdict.leaves
                 << " leaves, " << (unit.plans.empty() ? "" : told(arena)) << verdict.excused << " excused, " << verdict.violations.size()
                 << " violations\n";
    for (const Violation& v : verdict.violations)
      llvm::outs() << "  " << v.file << ":" << v.line << ": " << name(v.rule) << ": " << v.what
                   << (v.function.empty() ? "" : " in " + v.function) << "\n";
  }

  static std::string told(const ArenaFindings& arena) {
    return std::to_string(arena.pointers) + " pointers into the arena, " + std::to_string(arena.compared) + " of " +
           std::to_string(arena.operands) + " operands with extents, ";
  }

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

std::string read_text(const std::string& path) {
  const auto text = llvm::MemoryBuffer::getFile(path);
  if (!text) throw std::invalid_argument(path + " cannot be read");
  return (*text)->getBuffer().str();
}

int run(int argc, const char** argv) {
  auto parser = tooling::CommonOptionsParser::create(argc, argv, category);
  if (!parser) {
    llvm::errs() << llvm::toString(parser.takeError());
    return 2;
  }
  Total total;
  for (const std::string& file : allow) total.allowed.add(Allowed(read_text(file)));
  for (const std::string& path : parser->getSourcePathList()) total.of.push_back({tooling::getAbsolutePath(path)});
  if (!plan.empty() && plan.size() != total.of.size()) throw std::invalid_argument("there is one plan for each unit, or none");
  for (std::size_t i = 0; i < plan.size(); ++i) total.of[i].plans = read_plans(read_text(plan[i]));
  std::string all;
  for (const Unit& unit : total.of) all += "#include \"" + unit.path + "\"\n";
  tooling::ClangTool tool(parser->getCompilations(), together ? std::vector<std::string>{kAll} : parser->getSourcePathList());
  if (together) tool.mapVirtualFile(kAll, all);
  tool.appendArgumentsAdjuster(
      tooling::getInsertArgumentAdjuster({"-resource-dir", ONNXC_CLANG_RESOURCES}, tooling::ArgumentInsertPosition::BEGIN));
  Actions actions(total);
  if (tool.run(&actions) != 0) return 2;
  if (total.units != total.of.size()) throw std::invalid_argument("a unit was not found in what was read");
  llvm::outs() << total.units << " units, " << total.violations << " violations\n";
  return total.violations > 0 ? 1 : 0;
}

}  // namespace
}  // namespace onnxc::check_emitted

int main(int argc, const char** argv) {
  try {
    return onnxc::check_emitted::run(argc, argv);
  } catch (const std::invalid_argument& e) {
    llvm::errs() << "check_emitted: " << e.what() << "\n";
    return 2;
  }
}
