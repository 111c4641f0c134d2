// Turns ONNX names, which are arbitrary strings of unknown origin, into text that is safe in C++.
#pragma once
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace onnxc {

/// C++ compilers need not accept longer literals, and clang warns of them with -Wpedantic (-Woverlength-strings).
inline constexpr std::size_t kLongestLiteral = 65'535;

/// A C++ identifier that resembles `name`: letters, digits and single underscores, at most 64 characters, neither a
/// keyword nor a reserved name nor a macro of common headers. Different names may give the same identifier.
///   "/layer1/conv.0:weight" → layer1_conv_0_weight     "int" → int_     "7" → v7     "INPUT__0" → input_0     "X" → X
std::string make_identifier(std::string_view name, std::string_view when_empty = "v");

/// What is wrong with a name for a unit's namespace.
struct NamespaceProblem {
  /// To be read after the name: `is a function or an object of the C library`. Empty if nothing is wrong.
  std::string_view why{};
  bool elsewhere = false;  ///< only on other systems: whoever asks for the name may have it
};
NamespaceProblem namespace_problem(std::string_view name);

/// A name without problems for a unit's namespace.
///   "mnist-12" → mnist_12     "exp" → model_exp     "class" → model_class     "onnxc" → model_onnxc
std::string make_namespace(std::string_view name);

/// A scope of identifiers, in which each name gets its own. The same calls in the same order give the same
/// identifiers.
class Names {
 public:
  Names() = default;
  /// A scope in which `taken` are in use already; see kInterfaceNames.
  explicit Names(std::span<const std::string_view> taken) : used_(taken.begin(), taken.end()) {}

  /// make_identifier(name), with _2, _3, ... if that is in use.
  std::string add(std::string_view name, std::string_view when_empty = "v");

  bool contains(std::string_view identifier) const { return used_.find(identifier) != used_.end(); }

 private:
  std::set<std::string, std::less<>> used_;
  std::map<std::string, int, std::less<>> last_suffix_;
};

/// The names that emitted units and their interfaces use for their own things.
inline constexpr std::string_view kInterfaceNames[] = {"check",       "Dims",    "Inputs", "Outputs",  "Status", "arena", "arena_alignment",
                                                       "arena_bytes", "call",    "dims",   "executor", "extent", "in",    "max_arena_bytes",
                                                       "onnxc",       "other",   "out",    "shares",   "run",    "std",   "steps",
                                                       "share",       "symbols", "weights"};

/// Further variables and functions of a unit.
inline constexpr std::string_view kUnitNames[] = {"p",
                                                  "plan",
                                                  "Plan",
                                                  "threads",
                                                  "status",
                                                  "heap",
                                                  "memory",
                                                  "weights_end",
                                                  "lanes",
                                                  "huge_weights",
                                                  "read_step",
                                                  "read_part",
                                                  "reset_profile",
                                                  "profile_clock",
                                                  "weights_in_use",
                                                  "weights_float",
                                                  "weights_int8",
                                                  "weights_int32",
                                                  "weights_uint8",
                                                  "profiled_steps",
                                                  "profile_description"};

/// The same of a unit for a GPU.
inline constexpr std::string_view kGpuUnitNames[] = {"gpu",
                                                     "stream",
                                                     "device",
                                                     "device_plan",
                                                     "DevicePlan",
                                                     "DeviceInputs",
                                                     "DeviceOutputs",
                                                     "enqueue",
                                                     "weights_image",
                                                     "DeviceMemory",
                                                     "device_arena_bytes",
                                                     "device_weights_bytes",
                                                     "device_words",
                                                     "device_alignment",
                                                     "device_tensor_alignment",
                                                     "device_weights",
                                                     "can_capture",
                                                     "Session",
                                                     "unit",
                                                     "unit_sizes",
                                                     "enqueue_unit",
                                                     "on_host",
                                                     "with_arguments",
                                                     "allocator",
                                                     "step_times"};

/// `text` as one line for a `//` comment, or for the inside of a /* */ comment: valid UTF-8 without control
/// characters, marks that reorder or hide text, line continuations, trigraphs or ends of comments. Replaced
/// characters show as \x0a or \u202e. Cut after `max_bytes`.
std::string comment_text(std::string_view text, std::size_t max_bytes = 100);

/// The bytes of a comment's description of a step, which may be a chain of nodes.
inline constexpr std::size_t kLongestStep = 400;

/// A quoted string literal, printable ASCII only, that equals `text` byte by byte whatever the compiler's character
/// sets.
std::string string_literal(std::string_view text);

}  // namespace onnxc
