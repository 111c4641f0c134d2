// The search is that of C-Reduce: kinds of changes, the most drastic first, are each tried until none of a kind is of interest any more,
// and all kinds again until a round finds nothing. Changes that cannot succeed, since ONNX's checker refuses what they give, cost no run of
// the check.
//
//   Regehr, Chen, Cuoq, Eide, Ellison, Yang: Test-Case Reduction for C Compiler Bugs. PLDI 2012
#include "tools/reduce/reduce.h"
#include "compiler/support/error_codes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <map>
#include <set>
#include <string>

#include "compiler/frontend/guard_inference.h"
#include "compiler/frontend/model_file.h"
#include "compiler/support/error.h"
#include "onnx/checker.h"
#include "tools/driver/files.h"
#include "tools/driver/limits.h"
#include "tools/model/editable_model.h"
#include "tools/reduce/changes.h"
#include "tools/reduce/check.h"

namespace onnxc {
namespace {

constexpr ChangeKind kKinds[] = {
    {"outputs", drop_outputs},
    {"nodes", cut_nodes},
    {"functions", inline_functions},
    {"branches", choose_branches, true},
    {"detours", bypass_nodes},
    {"operands", drop_operands, true},
    {"words", drop_words},
    {"attributes", drop_attributes, true},
    {"extents", shrink_extents, true},
    {"elements", plain_constants},
};

std::atomic<bool> stop = false;

/// What ONNX's checker finds right about a model. Of a model that is wrong the parts need not be better.
enum class Validity { None, Nodes, Shapes };
bool is_valid(const onnx::ModelProto& model, Validity validity) {
  if (validity == Validity::None) return true;
  try {
    onnx::checker::check_model(model, validity == Validity::Shapes);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}
Validity validity_of(const onnx::ModelProto& model) {
  return is_valid(model, Validity::Shapes) ? Validity::Shapes : is_valid(model, Validity::Nodes) ? Validity::Nodes : Validity::None;
}

std::string size_of(const onnx::ModelProto& model) {
  return fmt::format("{} nodes, {} bytes", model.graph().node_size(), model.ByteSizeLong());
}

/// With what lies in files beside it. A model that lacks these files may be what is looked at: it is taken as it is.
onnx::ModelProto read_whole(const std::filesystem::path& path) {
  const Bytes bytes = read_model_file(path);
  onnx::ModelProto model = parse_model(bytes);
  try {
    embed_external_data(model, path.parent_path());
  } catch (const Error&) {
  }
  return model;
}

class Search {
 public:
  explicit Search(const ReduceOptions& options)
      : options_(options),
        model_(read_whole(options.model)),
        check_(options.check, options.check_seconds, stop),
        validity_(validity_of(model_)) {}

  int run() {
    check_folder_of(options_.output);
    const ProcessResult first = check_.run(model_);
    if (!first.ok() && !stop) refuse(first);
    const std::string before = size_of(model_);
    write_model(model_, options_.output);
    onnx::ModelProto swept = model_;
    sweep(swept, true);
    sweeps_ = is_valid(swept, validity_) && check_.first_of({swept}).has_value();
    for (bool found = true; found && !is_over();) {
      found = false;
      for (const ChangeKind& kind : kKinds) found |= exhaust(kind);
    }
    fmt::print("{}: {}; {}: {}; {} checks in {:.0f} s{}\n", options_.model.string(), before, options_.output.string(), size_of(model_),
               check_.count(), seconds(),
               stop        ? ", stopped"
               : is_over() ? ", out of time"
                           : "");
    for (const auto& [name, count] : counts_) fmt::print("  {} x {}\n", count, name);
    return 0;
  }

 private:
  [[noreturn]] void refuse(const ProcessResult& result) const {
    std::string said = result.output;
    while (!said.empty() && said.back() == '\n') said.pop_back();
    const std::size_t line = said.rfind('\n');
    const std::string how = result.timed_out     ? fmt::format("it does not end within {:g} s", options_.check_seconds)
                            : result.signal != 0 ? fmt::format("{} ends it", signal_name(result.signal))
                                                 : fmt::format("exit status {}", result.exit_code);
    throw Error(ErrorCode::CheckDoesNotHold,
                one_line(fmt::format("--check does not hold of the model itself: {}{}{}", how,
                                     said.empty() ? "" : "; it says: ", line == std::string::npos ? said : said.substr(line + 1))),
                "exit status 0 shall say that a model is still of interest");
  }

  /// Tries all changes of a kind, until none of them is of interest. Returns whether one was.
  bool exhaust(const ChangeKind& kind) {
    bool found = false;
    ValueTypes types = value_types(model_);
    std::vector<Change> changes = kind.list(model_, types);
    for (std::size_t at = 0, failed = 0; failed < changes.size() && !is_over();) {
      // The next few that give a valid model.
      std::vector<onnx::ModelProto> candidates;
      std::vector<std::size_t> places;
      while (static_cast<int>(candidates.size()) < options_.jobs && failed < changes.size()) {
        if (at >= changes.size()) at = 0;
        onnx::ModelProto candidate = model_;
        if (make(candidate, kind, changes[at])) {
          candidates.push_back(std::move(candidate));
          places.push_back(at);
        }
        ++at, ++failed;
      }
      const auto first = check_.first_of(candidates);
      if (stop) break;
      for (std::size_t i = 0; i < candidates.size() && i != first; ++i) failed_.insert(digest(candidates[i]));
      if (!first) continue;
      model_ = std::move(candidates[*first]);
      write_model(model_, options_.output);
      found = true;
      ++counts_[kind.name];
      if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\ronnxc: {}, {} checks, {:.0f} s   ", size_of(model_), check_.count(), seconds());
      types = value_types(model_);
      changes = kind.list(model_, types);
      at = places[*first];
      failed = 0;
    }
    if (found && isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\n");
    return found;
  }

  /// Whether it is another model, a valid one, that was not tried before.
  bool make(onnx::ModelProto& candidate, const ChangeKind& kind, const Change& change) const {
    try {
      if (!change(candidate)) return false;
      sweep(candidate, sweeps_);
      if (kind.bends) restate(candidate);
    } catch (const Error&) {  // elements that do not fit their shape, in a model that is wrong
      return false;
    }
    return is_valid(candidate, validity_) && !failed_.contains(digest(candidate));
  }
  static std::size_t digest(const onnx::ModelProto& model) { return std::hash<std::string>()(model.SerializeAsString()); }

  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }
  bool is_over() const { return stop || (options_.seconds > 0 && seconds() >= options_.seconds); }

  const ReduceOptions& options_;
  onnx::ModelProto model_;
  Check check_;
  const Validity validity_;
  std::set<std::size_t> failed_;  // digests of what was not of interest
  bool sweeps_ = true;            // false: it is of interest for nodes that no output needs
  std::map<std::string, int> counts_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

int reduce_command(const ReduceOptions& options) {
  guard_inference();  // ONNX's checker infers
  lift_limits();
  asked_to_end = &stop;
  return Search(options).run();
}

}  // namespace onnxc
