// The `onnxc` command.
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <set>
#include <system_error>

#include "codegen/compile.h"
#include "codegen/names.h"
#include "codegen/variants.h"
#include "compiler/support/error_codes.h"
#include "compiler/support/out_of_memory.h"
#include "compiler/support/stage.h"
#include "tools/driver/compile_unit.h"
#include "tools/driver/files.h"
#include "tools/driver/self_test.h"
#include "tools/onnxc/command_pages.h"
#include "tools/onnxc/commands.h"
#include "tools/onnxc/diagnostics.h"
#include "tools/onnxc/explain.h"
#include "tools/onnxc/lost_pages.h"
#include "tools/onnxc/manifest.h"
#include "tools/onnxc/memory_limit.h"
#include "tools/onnxc/model_options.h"
#include "tools/onnxc/process_limits.h"
#include "tools/onnxc/warden.h"

namespace onnxc {
namespace {

struct Arguments {
  std::string model, output, emit = "cpp", depfile, link_file, manifest, self_test;
  bool explain = false;
  std::map<std::string, std::vector<std::string>> given;  // for the manifest
  ModelOptions shared;                                    // with the subcommands
  CompileOptions options;                                 // the rest
};

std::string depfile_text(const std::string& output, const std::vector<std::filesystem::path>& files) {
  const auto escape = [](const std::string& path) {
    std::string out;
    for (char ch : path) {
      if (ch == ' ' || ch == '#' || ch == '\\') out += '\\';
      if (ch == '$') out += '$';
      out += ch;
    }
    return out;
  };
  std::string text = escape(output) + ":";
  for (const auto& f : files) text += " \\\n  " + escape(std::filesystem::absolute(f).string());
  return text + "\n";
}

/// The namespace of a unit that is written to a file with that stem. Prints a note if the stem itself cannot be used.
std::string name_space_from(const std::string& stem) {
  const std::string result = make_namespace(stem);
  if (const NamespaceProblem problem = namespace_problem(stem); !problem.why.empty() && result.ends_with(stem))
    fmt::print(stderr, "onnxc: note: the namespace is {}, as '{}' {}; --namespace chooses another\n", result, one_line(stem), problem.why);
  return result;
}

int compile_command(Arguments& a) {
  CompileOptions o = a.shared.options_for(a.model, a.options);
  if (o.name_space.empty() && !a.output.empty()) o.name_space = name_space_from(std::filesystem::path(a.output).stem().string());
  if (!a.output.empty() && o.header_name.empty())
    o.header_name = std::filesystem::path(a.output).replace_extension(".h").filename().string();
  if (!a.self_test.empty())
    o.self_test =
        make_self_test(a.model, o, a.self_test == "beside the model" ? std::nullopt : std::optional<std::filesystem::path>(a.self_test));
  Outputs outputs(!a.manifest.empty());
  const auto finish = [&](const ModelInfo& info, const Target& target, const std::string& compiler,
                          const std::vector<std::filesystem::path>& read, const std::vector<std::string>& libraries) {
    for (const std::string& name : info.unmet_dims)
      fmt::print(stderr, "onnxc: note: --dim {} changes nothing, as the model has no dimension of that name; onnxc info has the names\n",
                 one_line(name));
    if (!a.manifest.empty()) outputs.add(a.manifest, manifest({info, full_name(target), compiler, a.given, read}, outputs.hashes()));
    if (!a.depfile.empty()) outputs.add(a.depfile, depfile_text(a.output, read));
    if (!a.link_file.empty()) outputs.add(a.link_file, link_options(libraries));
    outputs.commit(read);
    return 0;
  };
  if (a.emit == "shared" || a.emit == "object") {
    if (a.output.empty()) throw Error(ErrorCode::MissingOption, "-o OUT is missing");
    const BuiltBinary built = build_binary(a.model, a.emit == "shared", o);
    outputs.add(a.output, built.bytes);
    return finish(built.info, built.target, compiler_name(target_compiler(o.target)), built.files, built.libraries);
  }
  if (a.emit == "graph" && o.stop_after.empty()) o.stop_after = "all";
  Compilation c = compile_model(a.model, o);
  if (a.explain) print_choices(c.choices);
  if (a.explain && o.weight_form) fmt::print("{}\n", text(c.rounded_weights, *o.weight_form));
  if (a.explain && c.target.gpu != nullptr) print_devices(c.program);
  const auto give = [&](const std::string& text) {
    if (a.output.empty()) std::fwrite(text.data(), 1, text.size(), stdout);
    else outputs.add(a.output, text);
  };
  if (!o.stop_after.empty()) {
    give(print_graph(c.graph));
  } else if (a.emit == "program") {
    give(print_programs(c));
  } else {
    c.graph = {};  // its weights are as large as the program's
    if (wants_footprint(o)) {
      const Footprint footprint = measure_footprint(c, o);
      o.stack_bytes = footprint.stack.bytes;
      o.stack_compiler = footprint.compiler;
      if (o.measure) fmt::print(stderr, "onnxc: {}\n", one_line(text(footprint)));
    }
    const Unit unit = emit_compilation(c, o);
    const Stage stage("the writing of files");
    if (a.emit == "header") {
      give(unit.header);
    } else {
      if (a.output.empty()) throw Error(ErrorCode::MissingOption, "-o OUT.cpp is missing");
      const auto folder = std::filesystem::path(a.output).parent_path();
      for (const SideFile& f : unit.side_files) outputs.add(folder / f.name, f.bytes);
      outputs.add(folder / o.header_name, unit.header);
      outputs.add(a.output, unit.source);
    }
  }
  return finish(c.info, c.target, "", c.info.files, c.program.libraries);
}

/// The options of the command line that may change the result, without folders.
std::map<std::string, std::vector<std::string>> given_options(const CLI::App& app) {
  const std::set<std::string> kElsewhere{"--output",  "--depfile",    "--link-file", "--manifest",    "--tune-cache", "--include-dir",
                                         "--timeout", "--max-memory", "--config",    "--diagnostics", "model"};
  std::map<std::string, std::vector<std::string>> given;
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_single_name().size() == 1 ? "-" + option->get_single_name() : option->get_name();
    if (option->count() == 0 || kElsewhere.contains(name)) continue;
    given[name] = name == "--self-test" ? std::vector<std::string>{} : option->results();
  }
  return given;
}

/// Whoever read the output has ended, as `head` does, and wants to hear nothing.
[[noreturn]] void end_as_pipes_do() {
  end_watch();
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
  std::abort();
}

int run(int argc, char** argv) {
  CLI::App app{
      "onnxc compiles ONNX models to self-contained C++.\n\n"
      "  onnxc model.onnx -o model.cpp        writes model.cpp and model.h\n"
      "  onnxc run model.onnx --data DIR      compiles, runs and compares with expected outputs\n"
      "  onnxc bench model.onnx               measures it\n"
      "  onnxc profile model.onnx             shows where its time goes\n"
      "  onnxc tune model.onnx                finds the kernels that are quickest here, for --tune\n"
      "  onnxc explain model.onnx [NODE]      says what became of each node\n"
      "  onnxc explain E0204                  says what an error means\n"
      "  onnxc bisect model.onnx              finds the first value that is wrong\n"
      "  onnxc verify model.onnx --each-pass  says whether the unit is what the model says\n"
      "  onnxc info model.onnx                says what is inside\n"
      "  onnxc report model.onnx -o page.html shows what became of it\n"
      "  onnxc serve model.onnx               puts it behind a port\n"
      "  onnxc package model.onnx --as zephyr -o DIR   makes it a library of Zephyr, Arduino, ESP-IDF, ...\n"
      "  onnxc quantize model.onnx --calibration DIR -o small.onnx   makes it one of integers\n"
      "  onnxc compress model.onnx --calibration DIR -o small.onnx   makes it one of fewer parameters\n"
      "  onnxc reduce model.onnx --check COMMAND -o small.onnx       makes it as small as a fault allows"};
  app.set_version_flag("--version", std::string("onnxc ") + ONNXC_VERSION);
  app.require_subcommand(0, 1);
  Arguments a;
  app.add_option("model", a.model, "ONNX model");
  app.add_option("-o,--output", a.output, "File to write; its name gives the namespace");
  app.add_option("--emit", a.emit, "What to write: cpp, header, graph, program, object or shared")
      ->capture_default_str()
      ->check(CLI::IsMember({"cpp", "header", "graph", "program", "object", "shared"}));
  app.add_option("--namespace", a.options.name_space, "Namespace of the unit");
  app.add_option("--header", a.options.header_name, "Name of the header");
  app.add_option("--depfile", a.depfile, "Writes the files the result depends on, as make does");
  app.add_option("--link-file", a.link_file,
                 "Writes the linker's options for the libraries that the unit needs, one on a line; most units need none");
  app.add_option(
         "--manifest", a.manifest,
         "Writes a JSON file by which the result can be traced: SHA-256 of the model, of its external data and of what was written, "
         "the options that matter and onnxc's version")
      ->type_name("FILE");
  app.add_flag("--self-test{beside the model}", a.self_test,
               "The unit gets a function that runs it on vectors which are part of it, and compares: on the machine where it will run. "
               "--self-test=DIR takes a folder of data sets; else those beside the model, or made-up inputs. They must pass here first")
      ->type_name("DIR");
  app.add_flag("--standalone", a.options.standalone, "Paste the runtime headers in: the unit needs only the standard library");
  app.add_flag("--profile", a.options.profile,
               "The unit measures how long each step takes, and NAME_profile() tells; see docs/profiling.md. Off, nothing is left of it");
  app.add_flag("--explain", a.explain, "Print the candidates of each node with their predicted cost; `onnxc explain` tells more");
  app.add_option("--print-after", a.options.print_after, "Print the graph after a pass (or 'all') to standard error");
  app.add_option("--stop-after", a.options.stop_after, "Stop after a pass (or 'all') and write the graph");
  app.add_option("--opt-bisect-limit", a.options.bisect_limit, "Run only so many of the optional passes");
  a.shared.add_to(app);
  a.shared.add_tune_to(app);
  std::function<int()> command;
  add_commands(app, command);
  add_command_pages(app);
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.set_config("--config", "", "Options from a TOML file, named as here; a table [run] has those of `run`. The command line wins");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help and --version
    const Error error(ErrorCode::CommandLine, e.what(), "see onnxc --help");
    report(error, "");
    return error.exit_code();
  }
  if (!command && a.model.empty()) {
    std::cout << app.help();
    return 2;
  }
  a.given = given_options(app);
  const CLI::App& used = command ? *app.get_subcommands().front() : app;
  const std::vector<std::string> models = used.get_option("model")->results();  // `serve` takes several, `explain` may have none
  const std::string model = models.size() == 1 ? models[0] : std::string(used.get_name());
  const auto refuse = [&](const Error& e) {
    report(e, model);
    return e.exit_code();
  };
  const auto end = [&](const Error& e) {
    end_watch();
    return refuse(e);
  };
  const ProcessLimits& limits = process_limits();
  expect_shortages(model);
  expect_lost_pages(model);
  limit_memory(limits.memory ? static_cast<int64_t>(std::min<uint64_t>(*limits.memory, INT64_MAX)) : machine_memory());
  try {
    check_memory();  // constructors of libraries have taken some
    start_warden(limits.seconds > 0 ? limits.seconds : HUGE_VAL, refuse);
    const int status = command ? command() : compile_command(a);
    errno = 0;
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      throw std::system_error(errno, std::generic_category(), "standard output cannot be written");
    end_watch();
    return status;
  } catch (const Error& e) {
    return end(e);
  } catch (const OutOfMemory& e) {
    return end(memory_shortage(e.what()));
  } catch (const std::bad_alloc&) {
    return end(memory_shortage());
  } catch (const std::system_error& e) {  // of a file, a thread, or standard output
    if (e.code() == std::errc::broken_pipe) end_as_pipes_do();
    return end(Error(ErrorCode::CannotWrite, e.what()));
  } catch (const std::exception& e) {
    return end(Error(ErrorKind::Internal, e.what(), "this is a bug in onnxc; please report it with the model"));
  }
}

}  // namespace
}  // namespace onnxc

int main(int argc, char** argv) {
  // What exceeds the largest file that is allowed fails with an error, and so does a pipe that nobody reads: temporary files then go.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
#ifdef __GLIBC__
  // Weights that are no longer needed go back to the system. By default later ones would fill their holes, or not fit.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
  try {
    return onnxc::run(argc, argv);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "onnxc: error[E0912]: out of memory\n");
    return 4;
  } catch (const std::exception& e) {
    fmt::print(stderr, "onnxc: error[E0006]: {}\n", e.what());
    return 70;
  }
}
