#include "tools/onnxc/commands.h"

#include <memory>

#include "tools/driver/compile_unit.h"
#include "tools/onnxc/info.h"
#include "tools/onnxc/model_options.h"
#include "tools/onnxc/run.h"

namespace onnxc {
namespace {

void add_run(CLI::App& app, std::function<int()>& command) {
  struct State {
    ModelOptions model;
    RunOptions run;
  };
  const auto state = std::make_shared<State>();
  CLI::App* const sub = app.add_subcommand("run", "Compile a model, run it on its data and compare; exit 0 only when all outputs are within the tolerance");
  sub->add_option("model", state->run.model, "ONNX model")->required();
  sub->add_option("--data", state->run.data, "A folder with test_data_set_*, or one data set (input_K.pb, output_K.pb)");
  sub->add_option("--rtol", state->run.rtol, "Relative tolerance of each element");
  sub->add_option("--atol", state->run.atol, "Absolute tolerance of each element");
  sub->add_option("--rel-l2", state->run.rel_l2, "Tolerance of the whole output, relative L2, instead");
  sub->add_option("--output", state->run.output, "Folder to write output_K.pb to");
  state->model.add_to(*sub);
  sub->callback([state, &command] {
    command = [state] {
      state->run.compile = state->model.parsed();
      return run_command(state->run);
    };
  });
}

void add_bench(CLI::App& app, std::function<int()>& command) {
  struct State {
    ModelOptions model;
    BenchOptions bench;
  };
  const auto state = std::make_shared<State>();
  CLI::App* const sub = app.add_subcommand("bench", "Measure the latency of a model");
  sub->add_option("model", state->bench.model, "ONNX model")->required();
  sub->add_option("--data", state->bench.data, "Inputs, as for run");
  sub->add_option("--seconds", state->bench.seconds, "How long to measure")->capture_default_str();
  sub->add_option("--json", state->bench.json, "File to write the figures to");
  state->model.add_to(*sub);
  sub->callback([state, &command] {
    command = [state] {
      state->bench.compile = state->model.parsed();
      return bench_command(state->bench);
    };
  });
}

void add_info(CLI::App& app, std::function<int()>& command) {
  struct State {
    ModelOptions model;
    std::string path;
    bool json = false;
  };
  const auto state = std::make_shared<State>();
  CLI::App* const sub = app.add_subcommand("info", "Say what is inside a model: opsets, inputs, outputs, operators, parameters, multiply-adds");
  sub->add_option("model", state->path, "ONNX model")->required();
  sub->add_flag("--json", state->json, "As JSON");
  state->model.add_to(*sub);
  sub->callback([state, &command] { command = [state] { return info_command(state->path, state->json, state->model.parsed()); }; });
}

}  // namespace

void add_commands(CLI::App& app, std::function<int()>& command) {
  add_run(app, command);
  add_bench(app, command);
  add_info(app, command);
}

int build_command(const std::string& model, const std::string& output, bool shared, const CompileOptions& options) {
  if (output.empty()) throw Error(ErrorKind::Usage, "-o FILE is missing");
  build_binary(model, output, shared, options, {"-O3"});
  return 0;
}

}  // namespace onnxc
