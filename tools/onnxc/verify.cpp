#include "tools/onnxc/verify.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <optional>

#include "compiler/support/error_codes.h"
#include "tools/calibration/progress.h"
#include "tools/driver/session.h"
#include "tools/onnxc/terminal.h"
#include "tools/verify/code_check.h"
#include "tools/verify/pass_watch.h"
#include "tools/verify/unit_run.h"

namespace onnxc {
namespace {

namespace fs = std::filesystem;

/// A trial with what it points to.
struct OwnTrial {
  std::vector<HostValue> made{};
  std::optional<DataSet> data{};
  std::vector<const HostValue*> of_unit{};  ///< in the order of the unit's inputs
  Answer given{};                           ///< the data set's outputs
};

const char* verdict_word(Verdict::Kind kind) {
  return kind == Verdict::Kind::Right ? "right" : kind == Verdict::Kind::Wrong ? "WRONG" : "not compared";
}

class Verification {
 public:
  explicit Verification(const VerifyOptions& options)
      : options_(options),
        tolerance_(tolerance_for(options.run)),
        summary_(summarize_model(options.run.model)),
        mode_(options.run.compile.subnormals == Subnormals::Flush && options.run.compile.math != Math::Reproducible ? SubnormalMode::Flush
                                                                                                                    : SubnormalMode::Keep) {
  }

  int run() {
    CompileOptions compile = options_.run.compile;
    compile.watch = [&](const std::string& pass, const Graph& graph) {
      if (pass == first_pass_) model_ = asked(graph);
    };
    const Compilation compilation = compile_model(options_.run.model, compile);
    unit_ = build_and_load(compilation, options_.run.compile);
    fmt::print("{}: built in {:.1f} s; {}\n", options_.run.model.string(), unit_.build_seconds,
               tolerance_.rel_l2 ? fmt::format("within {}", limits(tolerance_))
                                 : fmt::format("each element within {}, NaN and infinities where expected", limits(tolerance_)));
    try_data_sets();
    if (options_.made || trials_.empty()) try_made();
    if (options_.each_pass) try_passes();
    if (options_.code) try_code(compilation);
    return conclude();
  }

 private:
  /// What the unit has to compute, of the graph after the first pass. What Gradient means is said by names, until they are bound. States lie as the
  /// caller of the unit keeps them, which place_states finds in a decomposed graph; so passes are watched from there on.
  Graph asked(const Graph& graph) const {
    Graph model = clone(graph);
    if (first_pass_ == "import") model = run_pass("bind_gradients", std::move(model));
    if (model.states.empty()) return model;
    for (const char* pass : {"infer_shapes", "decompose", "place_states"}) model = run_pass(pass, std::move(model));
    return model;
  }

  void try_data_sets() {
    for (const fs::path& set : data_sets_for(options_.run.model, options_.run.data)) {
      OwnTrial& own = own_.emplace_back();
      own.data = read_data_set(set, summary_, unit_.outermost);
      own.of_unit = feeds(*unit_.model, summary_, *own.data);
      if (const auto names = names_of_several_extents(*unit_.model, own.of_unit); !names.empty()) {
        line(set.filename().string(), Verdict::Kind::Unjudged,
             fmt::format("'{}' has several extents here, which ONNX does not allow: give --dim NAME=*", fmt::join(names, ", ")));
        continue;
      }
      for (std::size_t k = 0; k < own.data->outputs.size(); ++k) {
        const auto& value = own.data->outputs[k];
        own.given.outputs.push_back({summary_.outputs[k].name, value ? *value : HostValue{}, value ? "" : "the data set has no value"});
      }
      add_trial(own, set.filename().string(), Content::Given, true);
    }
  }

  void try_made() {
    const SizesToTry sizes = sizes_to_try(*unit_.model);
    const auto at = [&](const MadeSizes& made, Content content, bool tell) {
      const std::string label = fmt::format("{}{}{}", onnxc::name(content), made.name.empty() ? "" : ", ", made.name);
      try {
        return add_made(label, made_inputs(*unit_.model, made), content, tell);
      } catch (const Error& e) {
        if (e.kind() != ErrorKind::Unsupported) throw;
        if (tell) line(label, Verdict::Kind::Unjudged, e.diagnostics()[0].text());
        return false;
      }
    };
    if (at(sizes.least, Content::Ordinary, true)) basis_ = own_.back().made;
    // Of the sizes in the middle the first that the model takes.
    for (const MadeSizes& middle : sizes.middle) {
      if (!at(middle, Content::Ordinary, &middle == &sizes.middle.back())) continue;
      basis_ = own_.back().made;
      break;
    }
    for (const MadeSizes& empty : sizes.empty) at(empty, Content::Empty, true);
    try_contents();
  }

  /// Special values among those of the first data set, which the model is meant for, or else among made-up ones.
  void try_contents() {
    std::string among = "made-up inputs";
    if (const auto given = std::ranges::find_if(own_, [](const OwnTrial& own) { return own.data.has_value(); }); given != own_.end()) {
      among = given->data->folder.filename().string();
      basis_.clear();
      for (const HostValue* input : given->of_unit) basis_.push_back(*input);
    }
    for (const Content content : {Content::NotNumbers, Content::Infinities, Content::Tiny, Content::Extremes}) {
      std::vector<HostValue> values = with_content(basis_, content);
      if (!values.empty()) add_made(fmt::format("{} in {}", onnxc::name(content), among), std::move(values), content, true);
    }
  }

  bool add_made(const std::string& label, std::vector<HostValue> values, Content content, bool tell) {
    OwnTrial& own = own_.emplace_back();
    own.made = std::move(values);
    for (const HostValue& value : own.made) own.of_unit.push_back(&value);
    return add_trial(own, label, content, tell);
  }

  /// Returns whether the model takes the inputs. Where both refuse them, that is told if `tell`.
  bool add_trial(OwnTrial& own, const std::string& label, Content content, bool tell) {
    Trial trial{label, {tolerance_, content, what_is_open(model_, content)}, graph_order(own.of_unit)};
    trial.expected = ask_evaluator(model_, trial.inputs, mode_);
    if (content == Content::Extremes &&
        trial.expected.kind == Answer::Kind::Unknown) {  // an integer that is a size: a run would take too much
      line(label, Verdict::Kind::Unjudged, trial.expected.why);
      return true;
    }
    const Answer actual = run_unit(*unit_.model, own.of_unit, {options_.run.compile.threads});
    if (trial.expected.kind == Answer::Kind::Refused && actual.kind == Answer::Kind::Refused && !tell) return false;
    Verdict by_model = judge(actual, trial.expected, trial.terms);
    if (by_model.kind == Verdict::Kind::Wrong && content == Content::Tiny && mode_ == SubnormalMode::Flush) {
      // Forests compare numbers as integers, which no mode of the processor changes.
      const Verdict kept = judge(actual, ask_evaluator(model_, trial.inputs, SubnormalMode::Keep), trial.terms);
      if (kept.kind == Verdict::Kind::Right) by_model = kept;
    }
    Verdict::Kind kind = by_model.kind;
    std::string text = told(by_model, "the evaluator", trial.expected.kind == Answer::Kind::Refused);
    if (own.data) {
      Terms terms = trial.terms;
      terms.is_fitted = true;
      const Verdict by_data = judge(actual, own.given, terms);
      kind = std::max(kind == Verdict::Kind::Unjudged ? Verdict::Kind::Right : kind,
                      by_data.kind == Verdict::Kind::Unjudged ? Verdict::Kind::Right : by_data.kind);
      if (by_model.kind == Verdict::Kind::Unjudged && by_data.kind == Verdict::Kind::Unjudged) kind = Verdict::Kind::Unjudged;
      text = told(by_data, "the data set", false) + "; " + text;
    }
    line(label, kind, text);
    const bool takes = trial.expected.kind != Answer::Kind::Refused;
    trials_.push_back(std::move(trial));
    return takes;
  }

  /// `3 outputs of the data set, largest error 2e-06`
  static std::string told(const Verdict& verdict, const char* oracle, bool refused) {
    if (verdict.kind == Verdict::Kind::Wrong) return fmt::format("against {}: {}", oracle, verdict.text);
    if (verdict.kind == Verdict::Kind::Unjudged) return fmt::format("{}: {}", oracle, one_line(verdict.text));
    if (refused) return fmt::format("an error, as {} gives: {}", oracle, one_line(verdict.text));
    std::string text = fmt::format("{} by {}, largest error {:.2g}", verdict.compared, oracle, verdict.largest_error);
    if (verdict.elements_left_out > 0) text += fmt::format(", {} elements left out", verdict.elements_left_out);
    if (!verdict.left_out.empty()) text += fmt::format(", left out: {}", fmt::join(verdict.left_out, ", "));
    return text;
  }

  void line(const std::string& label, Verdict::Kind kind, const std::string& text) {
    ++counts_[static_cast<std::size_t>(kind)];
    if (options_.quiet && kind == Verdict::Kind::Right) return;
    fmt::print("  {:<34} {}  {}\n", label,
               styled(kind == Verdict::Kind::Wrong ? Style::Red : Style::Plain, fmt::format("{:<12}", verdict_word(kind))), text);
    std::fflush(stdout);
  }

  std::vector<const HostValue*> graph_order(const std::vector<const HostValue*>& of_unit) const {
    std::vector<const HostValue*> inputs;
    for (const ValueId v : model_.inputs) {
      const onnxc_tensor_info* const begin = unit_.model->inputs;
      const auto* const found = std::find_if(begin, begin + unit_.model->input_count,
                                             [&](const onnxc_tensor_info& input) { return model_[v].name == input.name; });
      ONNXC_CHECK(found != begin + unit_.model->input_count, "a unit has the inputs of its graph");
      inputs.push_back(of_unit[static_cast<std::size_t>(found - begin)]);
    }
    return inputs;
  }

  void try_passes() {
    PassWatch watch(trials_, mode_);
    const bool has_states = !model_.states.empty();
    if (has_states) watch.see("the model", model_);
    Progress progress("passes", pass_names().size());
    CompileOptions compile = options_.run.compile;
    bool has_begun = false;
    compile.watch = [&](const std::string& pass, const Graph& graph) {
      has_begun = has_begun || pass == (has_states ? "place_states" : first_pass_);
      if (!has_begun) return progress.step();
      const PassWatch::Finding& finding = watch.see(pass, graph);
      const bool tells = pass != "import" && finding.kind != PassWatch::Finding::Kind::Unchanged;
      if (tells && !(options_.quiet && finding.kind == PassWatch::Finding::Kind::Right)) print(finding);
      progress.step();
    };
    if (!options_.quiet) fmt::print("passes, those that change the graph:\n");
    compile.specialize.clear();
    compile_model(options_.run.model, compile);
    if (watch.guilty() != nullptr) {
      fmt::print("  the first pass whose graph departs is {}\n", watch.guilty()->pass);
      is_wrong_ = true;
    } else if (counts_[static_cast<std::size_t>(Verdict::Kind::Wrong)] > 0) {
      fmt::print("  no pass departs: it is the lowering, or a kernel\n");
    }
  }

  static void print(const PassWatch::Finding& finding) {
    using Kind = PassWatch::Finding::Kind;
    const bool wrong = finding.kind == Kind::Wrong;
    std::string text = finding.text;
    if (!wrong && finding.judged > 0)
      text = fmt::format("{} sets, largest error {:.2g}{}{}", finding.judged, finding.largest_error,
                         text.empty() ? "" : "; not compared: ", text);
    fmt::print("  {:<34} {}  {}\n", finding.pass,
               styled(wrong ? Style::Red : Style::Plain, fmt::format("{:<12}", wrong                         ? "WRONG"
                                                                               : finding.kind == Kind::Right ? "right"
                                                                                                             : "not compared")),
               text);
    std::fflush(stdout);
  }

  void try_code(const Compilation& compilation) {
    const CodeCheck check = check_code(compilation, options_.run.compile);
    if (!check.why_not.empty()) return fmt::print("rules for emitted code: not checked, since {}\n", check.why_not);
    if (!options_.quiet || !check.found.empty()) fmt::print("rules for emitted code: {}\n", check.summary);
    for (const std::string& found : check.found) fmt::print("  {}\n", found);
    if (!check.found.empty()) is_wrong_ = true;
  }

  int conclude() const {
    const auto [right, wrong, unjudged] = counts_;
    fmt::print("{} sets of inputs: {} right, {} wrong, {} not compared\n", right + wrong + unjudged, right, wrong, unjudged);
    if (wrong > 0 || is_wrong_) return 1;
    if (right == 0)
      throw Error(ErrorCode::NothingCompared, "nothing could be compared: the evaluator has no answer for this model",
                  "give data sets with expected outputs by --data");
    return 0;
  }

  const VerifyOptions& options_;
  /// After it, the graph says what the unit has to compute.
  const std::string first_pass_ = options_.run.compile.weight_form ? "quantise_weights" : "import";
  Tolerance tolerance_;
  ModelSummary summary_;
  SubnormalMode mode_;
  Graph model_;
  CompiledModel unit_;
  std::deque<OwnTrial> own_;      // trials point into these
  std::vector<HostValue> basis_;  // inputs that the model takes, to put special values into
  std::vector<Trial> trials_;
  std::array<int, 3> counts_{};  // by Verdict::Kind
  bool is_wrong_ = false;
};

}  // namespace

int verify_command(const VerifyOptions& options) { return Verification(options).run(); }

}  // namespace onnxc
