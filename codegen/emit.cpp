#include "codegen/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "codegen/cpp_text.h"
#include "codegen/names.h"
#include "codegen/standalone.h"
#include "codegen/steps.h"
#include "codegen/weights.h"
#include "runtime_stub/onnxc/model.h"

namespace onnxc {
namespace {

/// `12,544`
std::string thousands(int64_t n) {
  std::string digits = std::to_string(n), out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0 && digits[i - 1] != '-') out += ',';
    out += digits[i];
  }
  return out;
}

/// How many of its stored elements an input or output has.
Dim stored_elements(const Buffer& buffer) {
  const Dim n = element_count(buffer.extents);
  return is_sub_byte(buffer.element) ? ceil_div(n * info(buffer.element).bits, 8) : n;
}

class Emitter {
 public:
  Emitter(const Program& program, const EmitOptions& options) : program_(program), options_(options) { name_everything(); }

  Unit emit() {
    Unit unit;
    unit.name_space = options_.name_space;
    unit.header = header();
    unit.source = source(unit);
    unit.libraries = program_.libraries;
    unit.includes_others = !program_.includes.empty();
    return unit;
  }

 private:
  struct Member {
    std::string name;
    const Buffer* buffer;
    std::string size;    ///< elements, as C++ text; of what depends on data, the most
    bool fixed;
    bool bounded = false;  ///< an output that tells its shape
    bool plain() const { return !buffer->is_value; }
    int form() const { return buffer->is_value ? ONNXC_VALUE : bounded ? ONNXC_BOUNDED : ONNXC_PLAIN; }
  };

  void name_everything() {
    Names dims(kInterfaceNames);
    for (const BufferId id : program_.inputs) {
      for (Dim d : program_[id].extents) {
        if (d.is_symbol() && symbol_members_.emplace(d.name(), "").second) {
          symbols_.push_back(d);
          symbol_members_[d.name()] = dims.add(d.name(), "dim");
          symbol_names_[d.name()] = "dims." + symbol_members_[d.name()];
        }
      }
    }
    for (const char* n : {"p", "plan", "Plan", "threads", "status", "heap", "memory", "part"}) locals_.add(n);
    for (std::size_t i = 0; i < program_.exprs.size(); ++i) locals_.add(fmt::format("E{}", i));
    for (const Weights& w : program_.weights) locals_.add(w.name);
    for_each_step(program_.steps, [&](const Step& s, int) {
      for (Dim d : s.binds) {
        auto& name = symbol_names_[d.name()];
        if (name.empty()) name = locals_.add(d.name(), "n");
      }
    });
    check_symbols();
    const auto members = [&](const std::vector<BufferId>& ids, std::vector<Member>& list, const char* when_empty) {
      Names names(kInterfaceNames);
      for (BufferId id : ids) {
        const Buffer& b = program_[id];
        if (b.is_value) {
          list.push_back({names.add(b.name, when_empty), &b, "", false});
          continue;
        }
        const bool bounded = std::ranges::any_of(b.extents, [](Dim d) { return d.depends_on_run(); });
        const Dim n = bounded ? floor_div(b.bytes, info(stored_element(b)).bits / 8) : stored_elements(b);
        list.push_back({names.add(b.name, when_empty), &b, cpp_dim(n, symbol_names_), n.is_constant(), bounded});
        if (bounded) names.add(list.back().name + "_shape");
      }
    };
    members(program_.inputs, inputs_, "input");
    members(program_.outputs, outputs_, "output");
  }

  std::string memory_parameter() const { return program_.uses_heap ? ", const onnxc_allocator& memory" : ""; }

  /// Every extent must be known from the inputs' shapes.
  void check_symbols() const {
    std::map<std::string, Dim> used;
    for (const Buffer& b : program_.buffers) {
      b.bytes.collect_symbols(used);
      for (Dim d : b.extents) d.collect_symbols(used);
    }
    for (const auto& [name, dim] : used) {
      if (symbol_names_.count(name) == 0)
        throw Error(ErrorKind::Unsupported, fmt::format("extent '{}' is only known when the model runs", name), "sizes that depend on data are not supported yet");
    }
  }

  bool dynamic() const { return !symbols_.empty(); }

  std::string span_type(const Member& m, bool output) const {
    const std::string element = fmt::format("{}{}", output ? "" : "const ", info(stored_element(*m.buffer)).cpp_name);
    return m.fixed ? fmt::format("std::span<{}, {}>", element, m.size) : fmt::format("std::span<{}>", element);
  }

  std::string banner(const std::string& file) const {
    std::string links;
    for (const std::string& library : program_.libraries) links += " -l" + library;
    return fmt::format("// {}: made by onnxc {} from {} (sha256 {}),\n// opset {}, target {}{}{}. Do not edit.\n{}", comment_text(file), options_.version, comment_text(options_.model_file),
                       options_.model_sha256, comment_text(options_.opsets), options_.target, options_.flags.empty() ? "" : ", ", comment_text(options_.flags, 300),
                       links.empty() ? "" : "// Links with:" + links + "\n");
  }

  std::string header() const {
    std::string text = banner(options_.header_name);
    text += "#pragma once\n#include <cstddef>\n#include <cstdint>\n#include <span>\n\n";
    std::set<std::string> headers{"base.hpp"};
    for (const auto* list : {&inputs_, &outputs_}) {
      for (const Member& m : *list) {
        if (info(stored_element(*m.buffer)).cpp_name.starts_with("onnxc::")) headers.insert("types.hpp");
      }
    }
    text += options_.standalone ? paste_headers(headers) : include_headers(headers);
    text += fmt::format("\nnamespace {} {{\n\n", options_.name_space);
    if (dynamic()) {
      text += "/// The dynamic dimensions of the inputs.\nstruct Dims {\n";
      for (Dim s : symbols_) text += fmt::format("  std::int64_t {};  // {}\n", symbol_members_.at(s.name()), bounds_text(s));
      text += "};\n\ninline constexpr std::size_t arena_alignment = 64;\n/// Bytes of arena that a run needs at these dimensions.\n"
              "std::size_t arena_bytes(const Dims& dims) noexcept;\n\n";
    } else {
      text += fmt::format("inline constexpr std::size_t arena_bytes = {}, arena_alignment = {};\n\n", program_.arena_bytes.value(), program_.arena_alignment);
    }
    const auto members = [&](const char* name, const std::vector<Member>& list, bool output) {
      text += fmt::format("struct {} {{\n", name);
      for (const Member& m : list)
      {
        const std::string type = m.plain() ? span_type(m, output) : output ? "onnxc_value&" : "const onnxc_value&";
        const std::string shape = m.buffer->kind == Type::Kind::Tensor ? onnxc::text(m.buffer->extents) : m.buffer->kind == Type::Kind::Sequence ? "a sequence" : m.buffer->kind == Type::Kind::Map ? "a map" : "an optional";
        text += fmt::format("  {} {};  // {}{}\n", type, m.name, comment_text(shape), m.buffer->name == m.name ? "" : " '" + comment_text(m.buffer->name) + "'");
        if (m.bounded) text += fmt::format("  std::int64_t* {}_shape = nullptr;  // room for {} extents, which run tells\n", m.name, m.buffer->extents.size());
      }
      text += "};\n";
    };
    members("Inputs", inputs_, false);
    members("Outputs", outputs_, true);
    const std::string dims = dynamic() ? "const Dims& dims, " : "";
    if (program_.uses_heap) text += "\n/// `memory` gives scratch memory, which is given back, and memory for outputs, which stays the caller's: see onnxc/memory.hpp.";
    text += fmt::format("\n/// Runs the model. `arena` is scratch memory; nothing in it needs to be kept between runs.\n"
                        "onnxc::Status run({}const Inputs& in, const Outputs& out, std::span<std::byte> arena{}{}) noexcept;\n",
                        dims, memory_parameter(), options_.threads ? ", const onnxc_executor* executor = nullptr" : "");
    if (!weights_header_.empty()) text += "\n" + weights_header_;
    text += fmt::format("\n}}  // namespace {}\n\n/// The same for any language: names, types, shapes, sizes, run.\nextern \"C\" const onnxc_model* {}_model(void);\n", options_.name_space,
                        options_.name_space);
    return text;
  }

  static std::string bounds_text(Dim symbol) {
    std::string text = symbol.name() + ", at least " + std::to_string(symbol.min_value());
    if (symbol.max_value() != INT64_MAX) text += ", at most " + std::to_string(symbol.max_value());
    return comment_text(text);
  }

  std::string include_headers(const std::set<std::string>& headers) const {
    std::string text;
    for (const auto& h : headers) text += fmt::format("#include <onnxc/{}>\n", h);
    return text;
  }

  std::string outline() const {
    std::string text = "//\n";
    if (dynamic()) {
      text += fmt::format("// Memory: see plan() for the arena's layout; {} buffers.\n", program_.plan_order.size());
    } else {
      const int64_t arena = program_.arena_bytes.value(), bound = program_.lower_bound.value();
      text += fmt::format("// Memory: {} bytes of arena, {} ({} without sharing).\n", thousands(arena),
                          arena == bound ? "the lower bound" : fmt::format("lower bound {}", thousands(bound)), thousands(program_.unshared_bytes.value()));
      text += "//     offset        bytes   live       tensor\n";
      for (const Buffer& b : program_.buffers) {
        if (b.place != Buffer::Place::Arena || b.parent >= 0 || b.first < 0) continue;
        text += fmt::format("// {:>10} {:>12}   {:<10} {} {} {}\n", thousands(b.offset.value()), thousands(b.bytes.value()), fmt::format("[{}, {})", b.first + 1, b.last + 1),
                            comment_text(b.name, 60), name(b.element), comment_text(onnxc::text(b.extents)));
      }
    }
    Dim macs = 0;
    int count = for_each_step(program_.steps, [&](const Step& s, int) { macs += s.macs; });
    text += fmt::format("// Steps: {}, {} multiply-adds.\n", count, macs.is_constant() ? thousands(macs.value()) : comment_text(macs.text(), 200));
    for_each_step(program_.steps, [&](const Step& s, int number) {
      text += fmt::format("//   {:>4}  {:<20} {}\n", number + 1, step_label(s), comment_text(s.what, 140));
    });
    return text + "\n";
  }

  std::string source(Unit& unit) {
    std::set<std::string> headers{"base.hpp"};
    for_each_step(program_.steps, [&](const Step& s, int) {
      if (!s.header.empty()) headers.insert(s.header);
    });
    if (!program_.exprs.empty()) headers.insert("fn.hpp");
    if (program_.uses_heap) headers.insert("heap.hpp");
    std::vector<WeightBlob> blobs;
    for (const Weights& w : program_.weights) {
      if (!w.strings) blobs.push_back({w.name, std::string(info(w.element).cpp_name), *w.bytes, 64});
    }
    const WeightsText weights = emit_weights(blobs, {options_.weights, options_.name_space, "x86-64"});
    unit.side_files = weights.side_files;
    for (const auto& b : blobs) {
      if (b.elem_cpp_type.starts_with("onnxc::")) headers.insert("types.hpp");
    }
    if (!weights.header_declarations.empty()) {
      weights_header_ = weights.header_declarations;
      unit.header = header();
    }

    std::string text = banner(options_.name_space + ".cpp") + outline();
    if (options_.portable) {
      text += "// Vectors of the compiler's own, of one width on every machine.\n#define ONNXC_NO_XSIMD 1\n";
      if (options_.vector_floats > 0) text += fmt::format("#define ONNXC_VECTOR_FLOATS {}\n", options_.vector_floats);
      text += "\n";
    }
    text += fmt::format("#include \"{}\"\n\n#include <bit>\n#include <limits>\n", options_.header_name);
    for (const auto& i : weights.includes) {
      if (i != "<bit>") text += "#include " + i + "\n";
    }
    text += "\n" + (options_.standalone ? paste_headers(headers) : include_headers(headers));
    for (const std::string& include : program_.includes) text += "#include " + include + "\n";
    if (options_.vector_floats > 0)
      text += fmt::format("\nstatic_assert(onnxc::kVectorFloats == {}, {});\n", options_.vector_floats,
                          string_literal(options_.march.empty() ? "another unit before this one has chosen other vectors: compile it alone"
                                                                : "compile this unit with -march=" + options_.march + ", or ask onnxc for another --target"));
    text.reserve(text.size() + weights.declarations.size() + (std::size_t{1} << 20));  // the weights are most of it: one copy, no growth
    text += fmt::format("\nnamespace {} {{\n\n", options_.name_space);
    text += weights.declarations;
    text += "\nnamespace {\n\n";
    for (const Weights& w : program_.weights) {
      if (w.strings) text += strings_text(w);
    }
    for (std::size_t i = 0; i < program_.exprs.size(); ++i) text += cpp_expr_struct(fmt::format("E{}", i), program_.exprs[i]) + "\n";
    if (dynamic()) text += plan_text();
    const std::string dims_parameter = dynamic() ? "const Dims& dims, " : "", dims_argument = dynamic() ? "dims, " : "";
    text += fmt::format("onnxc::Status steps({}const Inputs& in, const Outputs& out, std::byte* arena{}{}) {{\n", dims_parameter,
                        program_.uses_heap ? ", onnxc::Heap heap" : "", options_.threads ? ", onnxc::Threads threads" : "");
    text += buffers_text(weights);
    StepsText steps{program_, symbol_names_, buffer_names_, options_.threads, {}};
    for (std::size_t i = 0; i < outputs_.size(); ++i) steps.shape_pointers[program_.outputs[i]] = "out." + outputs_[i].name + "_shape";
    text += steps.print();
    text += "  return {};\n}\n\n}  // namespace\n\n";

    if (dynamic()) text += "std::size_t arena_bytes(const Dims& dims) noexcept { return static_cast<std::size_t>(onnxc::nothrow(plan)(dims).bytes); }\n\n";
    text += fmt::format("onnxc::Status run({}const Inputs& in, const Outputs& out, std::span<std::byte> arena{}{}) noexcept {{\n", dims_parameter,
                        memory_parameter(), options_.threads ? ", const onnxc_executor* executor" : "");
    text += checks_text();
    text += fmt::format("  if (const auto status = onnxc::check_arena(arena, arena_bytes{}, arena_alignment)) return status;\n", dynamic() ? "(dims)" : "");
    if (!weights.missing.empty()) text += fmt::format("  if ({}) return {{ONNXC_NULL_POINTER}};\n", weights.missing);
    text += fmt::format("  return onnxc::nothrow(steps)({}in, out, arena.data(){}{});\n}}\n\n}}  // namespace {}\n\n", dims_argument, program_.uses_heap ? ", onnxc::Heap{&memory}" : "", options_.threads ? ", {executor}" : "", options_.name_space);
    text += abi_text(weights);
    return text;
  }

  /// Symbolic arenas: offsets as straight-line code, nothing but the size where all buffers have fixed ones.
  std::string plan_text() const {
    std::string members, body;
    const bool reads = std::any_of(program_.plan_order.begin(), program_.plan_order.end(), [&](BufferId id) { return !program_[id].bytes.is_constant(); });
    for (BufferId id : program_.plan_order) {
      const Buffer& b = program_[id];
      members += fmt::format("  std::int64_t b{} = 0;  // {}: {}\n", id, comment_text(b.name, 60), comment_text(onnxc::text(b.extents)));
      std::string offset = "0";
      for (std::size_t k = 0; k < b.below.size(); ++k) {
        const BufferId c = b.below[k];
        const std::string end = fmt::format("p.b{} + onnxc::aligned({})", c, cpp_dim(program_[c].bytes, symbol_names_));
        offset = k == 0 ? end : fmt::format("onnxc::max_of({}, {})", offset, end);
      }
      body += fmt::format("  p.b{} = {};\n  p.bytes = onnxc::max_of(p.bytes, p.b{} + onnxc::aligned({}));\n", id, offset, id, cpp_dim(b.bytes, symbol_names_));
    }
    return fmt::format("/// Where each buffer lies in the arena.\nstruct Plan {{\n  std::int64_t bytes = {};\n{}}};\nPlan plan({}const Dims& dims) {{\n  Plan p;\n{}  return p;\n}}\n\n",
                       program_.plan_order.empty() ? program_.arena_bytes.value() : 0, members, reads ? "" : "[[maybe_unused]] ", body);
  }

  /// Constant strings: literals, and arrays of characters where they are too long for that.
  static std::string strings_text(const Weights& w) {
    std::string text, rows;
    for (std::size_t i = 0; i < w.strings->size(); ++i) {
      const std::string& value = (*w.strings)[i];
      std::string literal;
      if (value.size() < kLongestLiteral) {
        literal = string_literal(value);
      } else {
        literal = fmt::format("{}_{}", w.name, i);
        text += character_array(literal, value);
      }
      rows += fmt::format("{}{{{}, {}}},{}", i % 8 == 0 ? "    " : " ", literal, value.size(), i % 8 == 7 ? "\n" : "");
    }
    if (rows.empty()) rows = "    {nullptr, 0},";
    return text + fmt::format("constexpr onnxc_string {}[] = {{  // {}\n{}\n}};\n\n", w.name, comment_text(w.from, 60), rows);
  }

  static std::string character_array(const std::string& name, const std::string& value) {
    std::string characters;
    for (char c : value) characters += fmt::format("'\\{:03o}', ", static_cast<unsigned char>(c));
    return fmt::format("constexpr char {}[] = {{{}0}};\n", name, characters);
  }

  /// A constant pointer for each buffer that a step uses.
  std::string buffers_text(const WeightsText& weights) {
    std::vector<char> used(program_.buffers.size(), 0);
    for_each_step(program_.steps, [&](const Step& s, int) { for_each_pointer(s, [&](const PointerArg& p) { used[static_cast<std::size_t>(p.buffer)] = 1; }); });
    buffer_names_.assign(program_.buffers.size(), "");
    std::string text;
    bool arena = false, input = false, output = false, planned = false;
    Names& names = locals_;
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
      if (!used[i]) continue;
      const Buffer& b = program_.buffers[i];
      const BufferId root = root_of(program_, static_cast<BufferId>(i));
      const Buffer& r = program_[root];
      Dim offset = 0;
      for (BufferId v = static_cast<BufferId>(i); program_[v].parent >= 0; v = program_[v].parent) offset += program_[v].offset;
      const std::string type(info(stored_element(b)).cpp_name);
      std::string base;
      bool is_const = false;
      if (b.is_value) {
        input = input || b.place == Buffer::Place::Input;
        output = output || b.place == Buffer::Place::Output;
        buffer_names_[i] = "&" + (b.place == Buffer::Place::Input    ? "in." + inputs_[static_cast<std::size_t>(b.index)].name
                                  : b.place == Buffer::Place::Output ? "out." + outputs_[static_cast<std::size_t>(b.index)].name
                                                                     : names.add(b.name, "v"));
        continue;
      }
      if (r.place == Buffer::Place::Heap) {  // declared by a step
        auto& root_name = buffer_names_[static_cast<std::size_t>(root)];
        if (root_name.empty()) root_name = names.add(r.name, "v");
        if (b.parent < 0) continue;
        std::string view = b.element == r.element ? root_name : fmt::format("reinterpret_cast<{}{}*>({})", r.borrowed ? "const " : "", type, root_name);
        const Dim elements = floor_div(offset, held_bits(b.element) / 8);
        buffer_names_[i] = elements == Dim(0) ? view : fmt::format("({} + {})", view, cpp_dim(elements, symbol_names_));
        continue;
      }
      switch (r.place) {
        case Buffer::Place::Heap:
        case Buffer::Place::Object: break;
        case Buffer::Place::Input:
          base = fmt::format("in.{}.data()", inputs_[static_cast<std::size_t>(r.index)].name);
          is_const = input = true;
          break;
        case Buffer::Place::Output:
          base = fmt::format("out.{}.data()", outputs_[static_cast<std::size_t>(r.index)].name);
          output = true;
          break;
        case Buffer::Place::Weights:
          base = program_.weights[static_cast<std::size_t>(r.index)].name;
          if (!program_.weights[static_cast<std::size_t>(r.index)].strings) base = weights.access(base);
          is_const = true;
          break;
        case Buffer::Place::Arena: arena = true; break;
      }
      if (r.place == Buffer::Place::Weights && b.parent < 0) {
        buffer_names_[i] = base;
        continue;
      }
      const std::string name = names.add(b.name, "v");
      if (r.place == Buffer::Place::Arena) {
        std::string at = program_.plan_order.empty() ? cpp_dim(r.offset + offset, symbol_names_) : fmt::format("p.b{}", root);
        if (!program_.plan_order.empty()) {
          planned = true;
          if (!(offset == Dim(0))) at += " + " + cpp_dim(offset, symbol_names_);
          at = fmt::format("static_cast<std::size_t>({})", at);
        }
        text += fmt::format("  {}* const {} = onnxc::at<{}>(arena, {});\n", type, name, type, at);
      } else {
        const Dim elements = floor_div(offset, held_bits(b.element) / 8);
        text += fmt::format("  {}{}* const {} = {}{};\n", is_const ? "const " : "", type, name, base, offset == Dim(0) ? "" : " + " + cpp_dim(elements, symbol_names_));
      }
      buffer_names_[i] = name;
    }
    if (planned) text = "  const Plan p = plan(dims);\n" + text;
    if (!arena) text = "  static_cast<void>(arena);\n" + text;
    if (!input) text = "  static_cast<void>(in);\n" + text;
    if (!output) text = "  static_cast<void>(out);\n" + text;
    if (dynamic()) text = "  static_cast<void>(dims);\n" + text;
    if (options_.threads) text = "  static_cast<void>(threads);\n" + text;
    return text;
  }

  /// Bounds, constraints and sizes.
  std::string checks_text() const {
    std::string text;
    for (Dim s : symbols_) {
      const std::string name = symbol_names_.at(s.name());
      std::string condition = fmt::format("{} < {}", name, s.min_value());
      if (s.max_value() != INT64_MAX) condition += fmt::format(" || {} > {}", name, s.max_value());
      text += fmt::format("  if ({}) return {{ONNXC_BAD_DIMENSION}};\n", condition);
    }
    std::set<std::string> seen;
    for (const auto& [a, b] : program_.constraints) {
      std::map<std::string, Dim> used;
      a.collect_symbols(used);
      b.collect_symbols(used);
      if (used.empty() || std::any_of(used.begin(), used.end(), [&](const auto& u) { return symbol_members_.count(u.first) == 0; })) continue;
      const std::string condition = fmt::format("{} != {}", cpp_dim(a, symbol_names_), cpp_dim(b, symbol_names_));
      if (seen.insert(condition).second) text += fmt::format("  if ({}) return {{ONNXC_BAD_DIMENSION}};\n", condition);
    }
    const auto sizes = [&](const std::vector<Member>& list, const char* of) {
      for (const Member& m : list) {
        if (!m.fixed && m.plain()) text += fmt::format("  if ({}.{}.size() {} static_cast<std::size_t>({})) return {{ONNXC_WRONG_SIZE}};\n", of, m.name, m.bounded ? "<" : "!=", m.size);
      }
    };
    sizes(inputs_, "in");
    sizes(outputs_, "out");
    return text;
  }

  std::string abi_text(const WeightsText& weights) const {
    const std::string& ns = options_.name_space;
    std::string text = "namespace {\n\n";
    // A name as an expression; one that is too long for a literal as an array of its own.
    int long_names = 0;
    const auto name_text = [&](const std::string& name) {
      if (name.size() < kLongestLiteral) return string_literal(name);
      const std::string array = fmt::format("{}_long_name_{}", ns, long_names++);
      text += character_array(array, name);
      return array;
    };
    const auto infos = [&](const std::vector<Member>& list, const std::string& what) {
      std::string rows;
      for (std::size_t i = 0; i < list.size(); ++i) {
        std::string shape;
        for (Dim d : list[i].buffer->extents) {
          std::string extent = "INT64_MIN";
          if (d.is_constant()) extent = std::to_string(d.value());
          for (std::size_t k = 0; k < symbols_.size(); ++k) {
            if (symbols_[k] == d) extent = std::to_string(-1 - static_cast<int64_t>(k));
          }
          shape += (shape.empty() ? "" : ", ") + extent;
        }
        text += fmt::format("constexpr std::int64_t {}_{}_{}_shape[] = {{{}}};\n", ns, what, i, shape.empty() ? "0" : shape);
        const int kind = list[i].buffer->kind == Type::Kind::Sequence ? ONNXC_SEQUENCE : list[i].buffer->kind == Type::Kind::Optional ? ONNXC_OPTIONAL : list[i].buffer->kind == Type::Kind::Map ? ONNXC_MAP : ONNXC_TENSOR;
        rows += fmt::format("    {{{}, {}, {}, {}, {}_{}_{}_shape, {}, {}}},\n", name_text(list[i].buffer->name), string_literal(list[i].name),
                            static_cast<int>(list[i].buffer->element), list[i].buffer->extents.size(), ns, what, i, list[i].form(), kind);
      }
      if (list.empty()) rows = "    {nullptr, nullptr, 0, 0, nullptr, 0, 0},\n";
      text += fmt::format("constexpr onnxc_tensor_info {}_{}s[] = {{\n{}}};\n", ns, what, rows);
    };
    infos(inputs_, "input");
    infos(outputs_, "output");
    std::string rows;
    for (Dim s : symbols_)
      rows += fmt::format("    {{{}, {}, {}}},\n", name_text(s.name()), s.min_value(), s.max_value() == INT64_MAX ? "INT64_MAX" : std::to_string(s.max_value()));
    if (rows.empty()) rows = "    {nullptr, 0, 0},\n";
    text += fmt::format("constexpr onnxc_symbol_info {}_symbols[] = {{\n{}}};\n\n", ns, rows);

    std::string dims;
    for (std::size_t k = 0; k < symbols_.size(); ++k) dims += fmt::format("{}symbols[{}]", k == 0 ? "" : ", ", k);
    const std::string make_dims = dynamic() ? fmt::format("  const {}::Dims dims{{{}}};\n", ns, dims) : "";
    text += fmt::format("std::size_t {}_arena_bytes({}const std::int64_t* symbols) {{\n{}  return {}::arena_bytes{};\n}}\n\n", ns, dynamic() ? "" : "[[maybe_unused]] ", make_dims, ns,
                        dynamic() ? "(dims)" : "");
    std::string cases;
    bool reads = false;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      cases += fmt::format("    case {}:\n", i);
      for (std::size_t axis = 0; axis < outputs_[i].buffer->extents.size(); ++axis) {
        const Dim most = outputs_[i].buffer->extents[axis].upper_bound().value_or(Dim(-1));
        reads = reads || !most.is_constant();
        cases += fmt::format("      extents[{}] = {};\n", axis, cpp_dim(most, symbol_names_));
      }
      cases += "      break;\n";
    }
    text += fmt::format("void {}_output_shape([[maybe_unused]] const std::int64_t* symbols, std::int32_t k, [[maybe_unused]] std::int64_t* extents) {{\n{}  switch (k) {{\n{}    default: break;\n  }}\n}}\n\n", ns,
                        reads ? make_dims : "", cases);

    std::string in, out, shapes;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (!inputs_[i].plain()) {
        in += fmt::format("      *static_cast<const onnxc_value*>(call->inputs[{}]),\n", i);
        continue;
      }
      in += fmt::format("      {}(static_cast<const {}*>(call->inputs[{}]), {}),\n", span_type(inputs_[i], false), info(stored_element(*inputs_[i].buffer)).cpp_name, i, size_text(inputs_[i]));
    }
    std::string told;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      if (!outputs_[i].plain()) {
        out += fmt::format("      *static_cast<onnxc_value*>(call->outputs[{}]),\n", i);
        told += fmt::format("{}k != {}", told.empty() ? "" : " && ", i);
        continue;
      }
      if (outputs_[i].bounded) told += fmt::format("{}k != {}", told.empty() ? "" : " && ", i);
      out += fmt::format("      {}(static_cast<{}*>(call->outputs[{}]), {}),\n", span_type(outputs_[i], true), info(stored_element(*outputs_[i].buffer)).cpp_name, i, size_text(outputs_[i]));
      if (outputs_[i].bounded) out += fmt::format("      call->output_shapes != nullptr ? call->output_shapes[{}] : nullptr,\n", i);
    }
    text += fmt::format("std::int32_t {}_run(const onnxc_call* call) {{\n  if (call == nullptr) return ONNXC_NULL_POINTER;\n", ns);
    if (dynamic()) {
      text += "  const std::int64_t* const symbols = call->symbols;\n  if (symbols == nullptr) return ONNXC_NULL_POINTER;\n" + make_dims;
      std::string bad;
      for (Dim s : symbols_) {
        const std::string name = symbol_names_.at(s.name());
        bad += fmt::format("{}{} < {}", bad.empty() ? "" : " || ", name, s.min_value());
      }
      text += fmt::format("  if ({}) return ONNXC_BAD_DIMENSION;\n", bad);
    }
    text += fmt::format("  const {}::Inputs in{{\n{}  }};\n  const {}::Outputs out{{\n{}  }};\n", ns, in, ns, out);
    text += fmt::format("  if (call->output_shapes != nullptr) {{\n    for (std::int32_t k = 0; k < {}; ++k) {{\n      if ({}call->output_shapes[k] != nullptr) {}_output_shape(call->symbols, k, call->output_shapes[k]);\n    }}\n  }}\n",
                        outputs_.size(), told.empty() ? "" : told + " && ", ns);
    if (program_.uses_heap) text += "  if (call->allocator == nullptr) return ONNXC_NULL_POINTER;\n";
    text += fmt::format("  return {}::run({}in, out, {{static_cast<std::byte*>(call->arena), call->arena_bytes}}{}{}).code;\n}}\n\n", ns, dynamic() ? "dims, " : "",
                        program_.uses_heap ? ", *call->allocator" : "", options_.threads ? ", call->executor" : "");
    text += fmt::format(
        "constexpr onnxc_model {0}_description = {{\n    sizeof(onnxc_model), {1}, {2}, {3}, {4}, {5}, {6}, {7},\n    {0}_inputs, {0}_outputs, {0}_symbols, {8}, {9}, {0}_arena_bytes, {0}_output_shape, {0}_run, {10},\n}};\n\n",
        ns, string_literal(options_.name_space), string_literal(options_.version), string_literal(options_.model_sha256), string_literal(options_.target), inputs_.size(), outputs_.size(),
        symbols_.size(), program_.arena_alignment, weights.image_bytes, program_.uses_heap ? 1 : 0);
    text += fmt::format("}}  // namespace\n\nextern \"C\" __attribute__((visibility(\"default\"))) const onnxc_model* {0}_model(void) {{ return &{0}_description; }}\n", ns);
    return text;
  }

  static std::string size_text(const Member& m) { return m.fixed ? m.size : fmt::format("static_cast<std::size_t>({})", m.size); }

  const Program& program_;
  const EmitOptions& options_;
  std::vector<Dim> symbols_;
  std::map<std::string, std::string> symbol_members_;
  SymbolNames symbol_names_;
  std::vector<Member> inputs_, outputs_;
  std::vector<std::string> buffer_names_;
  Names locals_{kInterfaceNames};
  std::string weights_header_;
};

}  // namespace

Unit emit_unit(const Program& program, const EmitOptions& options) { return Emitter(program, options).emit(); }

}  // namespace onnxc
