#include "codegen/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "codegen/abi.h"
#include "codegen/cpp_text.h"
#include "codegen/declarations.h"
#include "codegen/function.h"
#include "codegen/gpu_unit.h"
#include "codegen/lines.h"
#include "codegen/names.h"
#include "codegen/outline.h"
#include "codegen/profile.h"
#include "codegen/regions.h"
#include "codegen/requirements.h"
#include "codegen/size_limits.h"
#include "codegen/standalone.h"
#include "codegen/steps.h"
#include "codegen/unit_names.h"
#include "codegen/variants.h"
#include "codegen/weights.h"
#include "compiler/lowering/memory/plan_regions.h"
#include "compiler/support/error_codes.h"

namespace onnxc {
namespace {

/// Checks that every extent is known from the inputs' shapes, or bound by a step.
void check_symbols(const Program& program) {
  std::map<std::string, Dim> used, bound;
  for (const BufferId id : program.inputs) {
    for (Dim d : program[id].extents) d.collect_symbols(bound);
  }
  for_each_step(program.steps, [&](const Step& s, int) {
    for (Dim d : symbols_bound(s)) d.collect_symbols(bound);
  });
  for (const Buffer& b : program.buffers) {
    b.bytes.collect_symbols(used);
    for (Dim d : b.extents) d.collect_symbols(used);
  }
  for (const auto& [name, dim] : used) {
    if (!bound.contains(name))
      throw Error(ErrorCode::OpenDimension, fmt::format("extent '{}' is only known when the model runs", name),
                  "sizes that depend on data are not supported yet");
  }
}

class Emitter {
 public:
  Emitter(const Program& program, std::vector<Variant> variants, const EmitOptions& options)
      : program_(program),
        variants_(std::move(variants)),
        scopes_(variant_names(variants_)),
        weight_names_(weight_scope(options.name_space, scopes_, options.gpu)),
        options_(options),
        interface_(program_, options.gpu) {
    if (interface_.dynamic()) limits_ = size_limits(program_, interface_.symbols, options.threads > 1);
    if (!program_.regions.empty()) {
      for (const std::string& name : names_of_regions(program_.regions, options.name_space)) weight_names_.add(name);
    }
    for (Weights& w : program_.weights) w.name = add_weight_name(weight_names_, w.from);
    for (std::size_t i = 0; i < variants_.size(); ++i) {
      fit_to_interface(variants_[i].program);
      share_weights(variants_[i].program);
    }
    const std::set<std::string> on_device = weights_read(Device::Gpu);
    for (const Weights* w : all_weights()) {
      if (on_device.contains(w->name)) device_weights_.add(*w);
    }
    if (!options.profile) return;
    profile_.emplace(options.threads);
    profile_->add(program_, "");
    for (std::size_t i = 0; i < variants_.size(); ++i) profile_->add(variants_[i].program, scopes_[i]);
  }

  Unit emit() {
    Unit unit;
    unit.name_space = options_.name_space;
    unit.header = header();
    unit.source = source(unit);
    unit.libraries = program_.libraries;
    unit.gpu = options_.gpu;
    unit.includes_others = !program_.includes.empty();
    return unit;
  }

 private:
  /// Outputs that store their shape do so in a variant too, even if the variant knows it.
  void fit_to_interface(Program& variant) const {
    for (std::size_t i = 0; i < interface_.outputs.size(); ++i) {
      const Buffer& b = variant[variant.outputs[i]];
      if (!interface_.outputs[i].bounded || std::ranges::any_of(b.extents, [](Dim d) { return d.depends_on_run(); })) continue;
      variant.steps.push_back({StoreShape{variant.outputs[i], b.extents}});
    }
  }

  /// Shares constants that the program or another variant has already. Others get names of their own.
  void share_weights(Program& variant) {
    for (Weights& w : variant.weights) {
      const auto equal = [&](const Weights* other) {
        return other->element == w.element &&
               (w.strings ? other->strings && *other->strings == *w.strings : !other->strings && other->bytes == w.bytes);
      };
      std::vector<const Weights*> all = all_weights();
      const auto found = std::ranges::find_if(all, equal);
      w.name = found != all.end() ? (*found)->name : add_weight_name(weight_names_, w.from);
      if (found == all.end()) more_weights_.push_back(w);
    }
  }

  std::vector<const Weights*> all_weights() const {
    std::vector<const Weights*> all;
    for (const Weights& w : program_.weights) all.push_back(&w);
    for (const Weights& w : more_weights_) all.push_back(&w);
    return all;
  }

  /// The names of the weights that steps read. A Loop's constant true condition may not be among them.
  std::set<std::string> weights_read(Device device) const {
    std::set<std::string> names;
    for_each_program([&](const Program& program) {
      for_each_step(program.steps, [&](const Step& s, int) {
        for_each_pointer(s, [&](const PointerArg& p) {
          if (const Buffer& root = program[root_of(program, p.buffer)]; root.space == Buffer::Space::Weights && root.device == device)
            names.insert(program.weights[static_cast<std::size_t>(root.index)].name);
        });
      });
    });
    return names;
  }

  /// `dims.batch == 8 && dims.sequence == 128`
  std::string condition(const Variant& variant) const {
    std::string text;
    const auto both = [&](const std::string& test) { text += (text.empty() ? "" : " && ") + test; };
    for (const auto& [symbol, extent] : variant.dims) both(fmt::format("{} == {}", interface_.symbol_names.at(symbol), extent));
    for (const auto& [a, b] : variant.equal) both(equality_text(a, b, interface_.symbol_names));
    return text;
  }

  std::string banner(const std::string& file) const {
    std::string links;
    for (const std::string& library : program_.libraries) links += " -l" + library;
    return fmt::format("// {}: made by onnxc {} from {} (sha256 {}),\n// opset {}, target {}{}{}. Do not edit.\n{}", comment_text(file),
                       options_.version, comment_text(options_.model_file), options_.model_sha256, comment_text(options_.opsets),
                       options_.target, options_.flags.empty() ? "" : ", ", comment_text(options_.flags, 300),
                       (links.empty() ? "" : "// Links with:" + links + "\n") +
                           (options_.weights_note.empty() ? "" : "// " + options_.weights_note + ".\n"));
  }

  std::string header() const {
    std::string text = banner(options_.header_name);
    text += "#pragma once\n#include <cstddef>\n#include <cstdint>\n#include <span>\n\n";
    std::set<std::string> headers{"base.hpp"};
    for (const auto* list : {&interface_.inputs, &interface_.outputs}) {
      for (const Member& m : *list) {
        if (info(stored_element(*m.buffer)).cpp_name.starts_with("onnxc::")) headers.insert("types.hpp");
      }
    }
    if (profile_) headers.insert("profile.h");
    if (options_.gpu) headers.insert("gpu/interface.hpp");
    text = in_short_lines(text) + (options_.standalone ? paste_headers(headers) : include_headers(headers));
    return text + in_short_lines(declarations(interface_, limits_, program_, options_, weights_header_,
                                              options_.gpu ? gpu_unit().declarations() : ""));
  }

  std::string include_headers(const std::set<std::string>& headers) const {
    std::string text;
    for (const auto& h : headers) text += fmt::format("#include <onnxc/{}>\n", h);
    return text;
  }

  Text source(Unit& unit) {
    std::set<std::string> headers{"base.hpp"};
    for_each_program([&](const Program& program) {
      for_each_call(program.steps, [&](const Call& call, int) { headers.insert(call.header); });
      if (!program.exprs.empty()) headers.insert("fn.hpp");
      if (program.uses_heap) headers.insert("heap.hpp");
    });
    if (profile_) headers.insert(options_.gpu ? "gpu/step_times.hpp" : "profile.hpp");
    if (options_.huge_pages) headers.insert("huge_pages.hpp");
    if (options_.self_test) headers.insert("self_test.hpp");
    if (options_.small_core) headers.insert("passed.hpp");
    if (options_.gpu) headers.insert({"gpu/check_memory.hpp", "gpu/each.hpp", "gpu/session.hpp"});
    std::vector<WeightBlob> blobs;
    const std::set<std::string> read = weights_read(Device::Cpu);
    for (const Weights* w : all_weights()) {
      if (!w->strings && read.contains(w->name))
        blobs.push_back({w->name, std::string(info(w->element).cpp_name), w->bytes, 1, comment_text(w->from, 60)});
    }
    if (const auto& image = device_weights_.image; !image->empty())
      blobs.push_back({DeviceWeights::kName, "std::uint8_t", Bytes::of(std::shared_ptr<const std::vector<std::byte>>(image)), 256,
                       "what the GPU reads"});
    WeightsText weights = emit_weights_by_region(blobs,
                                                 {.form = options_.weights,
                                                  .prefix = options_.name_space,
                                                  .triple = options_.triple,
                                                  .little_endian = options_.little_endian,
                                                  .alignment = static_cast<std::size_t>(program_.arena.alignment),
                                                  .typed = options_.small_core,
                                                  .huge_pages = options_.huge_pages},
                                                 program_);
    unit.side_files = std::move(weights.side_files);
    for (const auto& b : blobs) {
      if (b.elem_cpp_type.starts_with("onnxc::")) headers.insert("types.hpp");
    }
    if (!weights.header_declarations.empty()) {
      weights_header_ = weights.header_declarations;
      unit.header = header();
    }

    Text all;
    all += in_short_lines(banner(options_.name_space + (options_.gpu ? ".cu" : ".cpp")) + outline(program_)) + preamble(headers, weights) +
           fmt::format("\nnamespace {} {{\n\n", options_.name_space);
    all += std::move(weights.declarations);
    std::string text = "\nnamespace {\n\n";
    for (const Weights* w : all_weights()) {
      if (w->strings && read.contains(w->name)) text += strings_text(*w);
    }
    const Profile* const profile = profile_ ? &*profile_ : nullptr;
    if (profile) text += profile->counters();
    const auto* const device_weights = options_.gpu ? &device_weights_.offsets : nullptr;
    FunctionText general(program_, interface_, options_.threads > 1, profile, device_weights, options_.small_core);
    text += general.print(weights) + "\n";
    std::string choices;
    for (std::size_t i = 0; i < variants_.size(); ++i) {
      const Program& program = variants_[i].program;
      FunctionText function(program, interface_, options_.threads > 1, profile, device_weights, options_.small_core);
      text += fmt::format("namespace {} {{\n\n{}\n}}  // namespace {}\n\n", scopes_[i], function.print(weights), scopes_[i]);
      const std::string test = condition(variants_[i]);
      std::string checks;
      for (const Requirement& r : requirements_of_dims(program.requirements, interface_)) {
        if (std::ranges::find(program_.requirements, r) == program_.requirements.end())
          checks += "    " + requirement_check(r, interface_.symbol_names);
      }
      choices += fmt::format("  if ({}) {{\n{}    return {};\n  }}\n", test, checks, call(scopes_[i] + "::steps", program));
    }
    text += "}  // namespace\n\n";

    if (interface_.dynamic()) {
      text += fmt::format("onnxc::Status check(const Dims& dims) noexcept {{\n{}  return {{}};\n}}\n\n", dims_checks());
      text += arena_function("arena_bytes", "plan");
      if (options_.gpu) text += arena_function("device_arena_bytes", "device_plan");
    }
    if (options_.gpu) {
      const std::string checked = interface_.dynamic() ? "  if (const auto status = check(dims)) return status;\n" : "";
      const std::string body = checked + choices + fmt::format("  return {};\n", call("steps", program_));
      text += gpu_unit().definitions(device_weights_.image->empty() ? "" : weights.access(DeviceWeights::kName), body, weights.missing);
      text += gpu_unit().session(checked + size_checks(interface_, program_.states), weights.missing);
    } else {
      text += run(choices, weights);
      if (options_.self_test) text += self_test_definition(*options_.self_test, interface_, program_, options_.threads > 1);
    }
    text += fmt::format("}}  // namespace {}\n\n", options_.name_space);
    text += abi_text(interface_, limits_, program_, options_, weights.image_bytes);
    if (profile) text += "\n" + profile->abi_text(options_.name_space);
    all += in_short_lines(text);
    return all;
  }

  GpuUnit gpu_unit() const {
    return {interface_, program_, device_weights_.image->size(), device_words(program_, variants_),
            !profile_ && can_capture(program_, variants_)};
  }

  /// `run` on a processor. `choices`: variants that return.
  std::string run(const std::string& choices, const WeightsText& weights) const {
    std::string text = fmt::format("onnxc::Status run({}const Inputs& in, const Outputs& out, {}{}{}) noexcept {{\n",
                                   interface_.dynamic() ? "const Dims& dims, " : "", arena_parameter(program_), memory_parameter(program_),
                                   options_.threads > 1 ? ", const onnxc_executor* executor" : "");
    if (interface_.dynamic()) text += "  if (const auto status = check(dims)) return status;\n";
    text += size_checks(interface_, program_.states) + arena_checks(program_, interface_.dynamic());
    if (!weights.missing.empty()) text += fmt::format("  if ({}) return {{ONNXC_NULL_POINTER}};\n", weights.missing);
    return text + choices + fmt::format("  return {};\n}}\n\n", call("steps", program_));
  }

  /// `plan`: the function that plans the arena, of which each variant has one.
  std::string arena_function(const char* name, const char* plan) const {
    std::string sizes;
    for (std::size_t i = 0; i < variants_.size(); ++i)
      sizes +=
          fmt::format("  if ({}) return onnxc::size_of(onnxc::nothrow({}::{})(dims).bytes);\n", condition(variants_[i]), scopes_[i], plan);
    return fmt::format(
        "std::size_t {}(const Dims& dims) noexcept {{\n  if (check(dims)) return SIZE_MAX;\n{}  return "
        "onnxc::size_of(onnxc::nothrow({})(dims).bytes);\n}}\n\n",
        name, sizes, plan);
  }

  /// The text before the namespace.
  std::string preamble(const std::set<std::string>& headers, const WeightsText& weights) const {
    std::string text;
    if (options_.portable) {
      text += "// Vectors of the compiler's own, of one width on every machine.\n#define ONNXC_NO_INTRINSICS 1\n";
      if (options_.vector_floats > 0) text += fmt::format("#define ONNXC_VECTOR_FLOATS {}\n", options_.vector_floats);
      if (options_.reproducible)
        text +=
            "// The same results on every machine: a product and a sum are rounded one by one.\n#define ONNXC_REPRODUCIBLE 1\n#if "
            "defined(__clang__)\n"
            "#pragma STDC FP_CONTRACT OFF\n"
            "// Only where the machine has the instruction: the pragma changes more of how g++ optimises than contractions.\n"
            "#elif defined(__GNUC__) && (defined(__FP_FAST_FMA) || defined(__FP_FAST_FMAF))\n"
            "#pragma GCC optimize(\"fp-contract=off\")\n#endif\n";
      text += "\n";
    }
    text += fmt::format("#include \"{}\"\n\n#include <bit>\n#include <limits>\n{}", options_.header_name,
                        interface_.dynamic() ? "#include <utility>\n" : "");
    for (const auto& i : weights.includes) {
      if (i != "<bit>") text += "#include " + i + "\n";
    }
    text += "\n" + (options_.standalone ? paste_headers(headers) : include_headers(headers));
    for (const std::string& include : program_.includes) text += "#include " + include + "\n";
    if (options_.vector_floats > 0)
      text += in_short_lines(
          fmt::format("\nstatic_assert(onnxc::kVectorFloats == {}, {});\n", options_.vector_floats,
                      string_literal(options_.machine_flags.empty()
                                         ? "another unit before this one has chosen other vectors: compile it alone"
                                         : "compile this unit with " + options_.machine_flags + ", or ask onnxc for another --target")));
    return text;
  }

  std::string call(const std::string& steps, const Program& program) const {
    if (options_.gpu)
      return fmt::format("onnxc::nothrow({})({}in, out, memory, stream{})", steps, interface_.dynamic() ? "dims, " : "",
                         program.uses_heap ? ", onnxc::Heap{&allocator}" : "");
    const std::string run =
        fmt::format("onnxc::nothrow({})({}in, out, {}{}{})", steps, interface_.dynamic() ? "dims, " : "",
                    divides_arena(program) ? "arenas" : "arena.data()", program.uses_heap ? ", onnxc::Heap{&memory}" : "",
                    options_.threads == 1       ? ""
                    : options_.flush_subnormals ? ", {executor, true}"
                                                : ", {executor}");
    return options_.flush_subnormals ? fmt::format("onnxc::flushing_subnormals([&]() noexcept {{ return {}; }})", run) : run;
  }

  template <class Visit>
  void for_each_program(Visit visit) const {
    visit(program_);
    for (const Variant& variant : variants_) visit(variant.program);
  }

  /// Constant strings: literals, or arrays of characters for those that are too long.
  std::string strings_text(const Weights& w) {
    std::string text, rows;
    for (std::size_t i = 0; i < w.strings->size(); ++i) {
      const std::string& value = (*w.strings)[i];
      std::string literal;
      if (value.size() < kLongestLiteral) {
        literal = string_literal(value);
      } else {
        literal = weight_names_.add(fmt::format("{}_{}", w.name, i));
        text += character_array(literal, value);
      }
      rows += fmt::format("{}{{{}, {}}},{}", i % 8 == 0 ? "    " : " ", literal, value.size(), i % 8 == 7 ? "\n" : "");
    }
    if (rows.empty()) rows = "    {nullptr, 0},";
    return text + fmt::format("constexpr onnxc_string {}[] = {{  // {}\n{}\n}};\n\n", w.name, comment_text(w.from, 60), rows);
  }

  std::string dims_checks() const {
    std::string text;
    for (Dim s : interface_.symbols) text += "  " + bounds_check(s, limits_.most.at(s.name()), interface_.symbol_names);
    for (const SizeLimits::Product& p : limits_.products) text += "  " + product_check(p, interface_.symbol_names);
    for (const Requirement& r : requirements_of_dims(program_.requirements, interface_))
      text += "  " + requirement_check(r, interface_.symbol_names);
    return text;
  }

  Program program_;  ///< with the names of its weights
  std::vector<Variant> variants_;
  std::vector<std::string> scopes_;    ///< a namespace for each variant
  std::vector<Weights> more_weights_;  ///< weights that only variants have
  DeviceWeights device_weights_;
  Names weight_names_;
  std::optional<Profile> profile_;
  const EmitOptions& options_;
  Interface interface_;
  SizeLimits limits_;
  std::string weights_header_;
};

}  // namespace

Unit emit_unit(const Program& program, const EmitOptions& options, const std::vector<Variant>& variants) {
  check_symbols(program);
  for (const Variant& variant : variants) check_symbols(variant.program);
  return Emitter(program, variants, options).emit();
}

}  // namespace onnxc
