#include "codegen/compile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "codegen/names.h"
#include "codegen/outline.h"
#include "codegen/regions.h"
#include "compiler/support/error_codes.h"
#include "compiler/support/stage.h"

namespace onnxc {

namespace {

/// The namespace that was asked for, or one derived from the file's name.
std::string name_space_of(const Compilation& compilation, const std::string& asked) {
  if (asked.empty()) return make_namespace(compilation.info.files.front().stem().string());
  const NamespaceProblem problem = namespace_problem(asked);
  if (!problem.why.empty() && !problem.elsewhere)
    throw Error(ErrorCode::UnitName, fmt::format("the unit's namespace cannot be '{}', which {}", one_line(asked), problem.why),
                fmt::format("--namespace={} would do", make_namespace(asked)));
  return asked;
}

}  // namespace

std::string text(const WeightSavings& rounded, const WeightForm& form) {
  return fmt::format("{} weights are codes of {} bits in blocks of {}: {} bytes, {} as floats", thousands(rounded.weights), form.bits,
                     form.block, thousands(rounded.bytes), thousands(rounded.bytes_as_floats()));
}

Unit emit_compilation(const Compilation& compilation, const CompileOptions& options) {
  const Stage stage("the emission of C++");
  EmitOptions emit;
  emit.name_space = name_space_of(compilation, options.name_space);
  emit.header_name = options.header_name.empty() ? emit.name_space + ".h" : options.header_name;
  if (std::any_of(emit.header_name.begin(), emit.header_name.end(),
                  [](char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; }))
    throw Error(ErrorCode::UnitName, fmt::format("no #include can name the header '{}'", one_line(emit.header_name)),
                "choose another name with -o or --header");
  if (options.standalone && !compilation.program.includes.empty())
    throw Error(ErrorCode::OptionConflict, "--standalone cannot paste in the headers of custom operators",
                "leave --standalone out; the unit then includes onnxc's headers and yours");
  if (compilation.target.gpu != nullptr) {
    if (options.threads > 1)
      throw Error(ErrorCode::NotForTarget, "the steps that a unit for a GPU leaves to the processor run on one thread",
                  "leave --threads out");
    if (options.huge_pages) throw Error(ErrorCode::NotForTarget, "--huge-pages is for the weights of units for processors", "leave it out");
  }
  if (compilation.target.bare && (options.threads > 1 || options.huge_pages))
    throw Error(ErrorCode::NotForTarget,
                fmt::format("there is no operating system on a {} for threads or huge pages", compilation.target.name),
                "leave --threads and --huge-pages out");
  if (!options.regions.empty() && options.huge_pages)
    throw Error(ErrorCode::OptionConflict, "--huge-pages copies weights to one place, and --region spreads them", "leave one of them out");
  emit.weights = options.weights;
  emit.threads = options.threads;
  emit.profile = options.profile;
  emit.huge_pages = options.huge_pages;
  emit.flush_subnormals = options.subnormals == Subnormals::Flush && options.math != Math::Reproducible;  // not all machines can
  emit.standalone = options.standalone;
  emit.vector_floats = options.level > 0 ? compilation.target.vector_floats : 0;
  emit.portable = compilation.target.features.empty() || options.math == Math::Reproducible;
  emit.reproducible = options.math == Math::Reproducible;
  emit.small_core = compilation.target.bare;
  emit.machine_flags = compilation.target.flags;
  emit.triple = compilation.target.triple;
  emit.little_endian = compilation.target.little_endian;
  emit.version = ONNXC_VERSION;
  emit.model_file = compilation.info.files.front().filename().string();
  emit.model_sha256 = compilation.info.sha256;
  for (const auto& [domain, version] : compilation.info.opsets)
    emit.opsets += fmt::format("{}{} {}", emit.opsets.empty() ? "" : ", ", domain, version);
  emit.self_test = options.self_test;
  emit.stack_bytes = options.stack_bytes;
  emit.stack_compiler = options.stack_compiler;
  emit.gpu = compilation.target.gpu != nullptr;
  emit.target = full_name(compilation.target);
  emit.flags = level_name(options);
  if (options.memory != usual_memory(options)) emit.flags += fmt::format(" --memory {}", name(options.memory));
  if (options.math != Math::Default) emit.flags += fmt::format(" --math {}", name(options.math));
  if (options.narrow_weights != usual_narrow_weights(options))
    emit.flags += fmt::format(" --narrow-weights {}", name(options.narrow_weights));
  if (options.weight_form) {
    emit.flags += fmt::format(" --weight-bits {} --block {}", options.weight_form->bits, options.weight_form->block);
    emit.weights_note = text(compilation.rounded_weights, *options.weight_form);
  }
  if (options.subnormals != Subnormals::Flush) emit.flags += fmt::format(" --subnormals {}", name(options.subnormals));
  if (options.tuning) emit.flags += " --tune";
  if (options.huge_pages) emit.flags += " --huge-pages";
  if (options.profile) emit.flags += " --profile";
  for (const Region& region : options.regions) emit.flags += " --region " + region_text(region);
  for (const auto& [dim, range] : options.dims) emit.flags += fmt::format(" --dim {}={}", dim, text(range));
  for (const auto& [name, extents] : options.specialize) emit.flags += fmt::format(" --specialize {}={}", name, fmt::join(extents, ","));
  try {
    return emit_unit(compilation.program, emit, compilation.variants);
  } catch (const std::invalid_argument& e) {
    throw Error(ErrorKind::Usage, e.what());
  }
}

Unit compile_file(const std::filesystem::path& model, const CompileOptions& options) {
  return emit_compilation(compile_model(model, options), options);
}

}  // namespace onnxc
