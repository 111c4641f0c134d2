#include "codegen/profile.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/names.h"
#include "codegen/steps.h"

namespace onnxc {

void Profile::add(const Program& program, const std::string& variant) {
  for_each_step(program.steps, [&](const Step& step, int number) {
    if (step.call() == nullptr) return;
    index_[&step] = steps_.size();
    steps_.push_back({&step, number + 1, threads_ > 1 && worth_sharing(*step.call()) ? shared_++ : -1, variant});
  });
}

std::string Profile::statement(const Step& step, const std::string& call, const std::string& threads, const std::string& lambda) const {
  const std::size_t at = index_.at(&step);
  if (!threads.empty()) {
    return fmt::format(
        "onnxc::timed(counters[{}], [&] {{ {}.run([&](onnxc::Share share) {}{{ onnxc::timed(share_counters[{}], share, [&] {{ {}; }}); "
        "}}); }});",
        at, threads, lambda, steps_[at].shares, call);
  }
  if (step.call()->fallible)
    return fmt::format("if (const auto status = onnxc::timed(counters[{}], [&] {{ return {}; }})) return status;", at, call);
  return fmt::format("onnxc::timed(counters[{}], [&]{}{{ {}; }});", at, lambda.empty() ? " " : "() " + lambda, call);
}

std::string Profile::on_gpu(const Step& step, const std::string& call) const {
  return fmt::format("step_times.begin({0}); {1} step_times.end({0});", index_.at(&step), call);
}

std::string Profile::step_times() const {
  return fmt::format("  onnxc::gpu::StepTimes<{}> step_times(gpu, counters);\n", std::max<std::size_t>(steps_.size(), 1));
}

std::string Profile::counters() const {
  std::string text = fmt::format("/// What --profile measures, by the order of the steps.\nonnxc::StepCounters counters[{}];\n",
                                 std::max<std::size_t>(steps_.size(), 1));
  if (shared_ > 0) text += fmt::format("onnxc::ShareCounters share_counters[{}][{}];\n", shared_, threads_);
  return text + "\n";
}

std::string Profile::abi_text(const std::string& name_space) const {
  std::string rows, shares;
  for (const Counted& counted : steps_) {
    rows += fmt::format("    {{{}, {}, {}, {}, {}}},\n", counted.number, counted.shares >= 0 ? 1 : 0, string_literal(counted.variant),
                        string_literal(step_label(*counted.step)), string_literal(comment_text(counted.step->what, kLongestStep)));
    shares += fmt::format("{}{}", shares.empty() ? "" : ", ", counted.shares);
  }
  if (rows.empty()) rows = "    {0, 0, nullptr, nullptr, nullptr},\n";
  if (shares.empty()) shares = "-1";
  const bool shared = shared_ > 0;
  std::string text =
      fmt::format("namespace {} {{\nnamespace {{\n\nconstexpr onnxc_profiled_step profiled_steps[] = {{\n{}}};\n\n", name_space, rows);
  text += "void read_step(std::int32_t step, onnxc_step_ticks* ticks) { *ticks = counters[step].read(); }\n";
  if (shared) {
    text += fmt::format(
        "void read_part([[maybe_unused]] std::int32_t step, std::int32_t share, onnxc_part_ticks* ticks) {{\n  constexpr std::int32_t "
        "rows[] = {{{}}};\n"
        "  *ticks = rows[step] < 0 || share < 0 || share >= {} ? onnxc_part_ticks{{}} : share_counters[rows[step]][share].read();\n}}\n",
        shares, threads_);
  } else {
    text += "void read_part(std::int32_t, std::int32_t, onnxc_part_ticks* ticks) { *ticks = {}; }\n";
  }
  text += fmt::format("void reset_profile() {{\n  for (auto& step : counters) step.reset();\n{}}}\n",
                      shared ? "  for (auto& shares : share_counters) {\n    for (auto& share : shares) share.reset();\n  }\n" : "");
  text += "std::uint64_t profile_clock() { return onnxc::read_clock(); }\n\n";
  text += fmt::format(
      "constexpr onnxc_profile profile_description = {{\n    sizeof(onnxc_profile), {}, {}, profiled_steps, read_step, read_part, "
      "reset_profile, profile_clock,\n}};\n\n",
      steps_.size(), threads_);
  return text + fmt::format(
                    "}}  // namespace\n}}  // namespace {0}\n\nextern \"C\" __attribute__((visibility(\"default\"))) const onnxc_profile* "
                    "{0}_profile(void) {{ return &{0}::profile_description; }}\n",
                    name_space);
}

}  // namespace onnxc
