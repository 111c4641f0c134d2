// A compilation's result as JSON: the only source of `onnxc info`, `explain`, `profile` and `report`.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "codegen/compile.h"

namespace onnxc {

/// A compilation, and the graph before the passes.
struct Described {
  Graph model;
  Compilation compilation;
};

/// Compiles and keeps the imported graph. Throws Error.
Described compile_described(const std::filesystem::path& model, const CompileOptions& options);

/// Describes a compilation. Sizes are numbers, or text if they depend on dimensions.
///
///   target, threads
///   totals:  {macs, weight_bytes, weight_bytes_saved, cost_ns}: of all steps, each counted once; saved is how much larger weights in
///            narrower types would be as f32
///   arena:   {bytes, lower_bound, proved, unshared_bytes}; if sizes depend on dimensions, {likely: {dims: {name: size}, bytes,
///            lower_bound, proved, unshared_bytes}, unshared_bytes}, where likely is for likely sizes
///   device_arena: the same for memory of the GPU, and transfers: {to_host, to_host_bytes, to_gpu, to_gpu_bytes}, each counted once, in
///            units for GPUs
///   regions: [{name, capacity, section, constants_only, share, constant_bytes, bytes, lower_bound, proved, unshared_bytes}], the fastest first, where
///            --region names some: `share` is that of all accesses to the arena and to constants, by estimate; from `bytes` on as in `arena`, of
///            the part that lies there
///   steps:   [{number, depth, device, label, what, value, origins: [{op, name, output}], macs, bytes, weight_bytes, cost_ns, mixes, parallel,
///            concurrent, reads: [buffer], writes: [buffer]}], in pre-order; `number` from 1 as in the comments of the emitted file;
///            `mixes`: its algorithm mixes values (docs/numerics.md)
///   buffers: [{id, name, place, device, type, bytes, index, pixel_stride, parent, offset, region, first, last}]: `index` is the number of an input or
///            output, or of an entry of `weights`; `pixel_stride` if channels-last; `first` and `last` are a half-open range of steps,
///            counted from 0; offset and lifetime only in the arena of its device, and counted from its beginning in `region` where regions
///            divide it. `device`: host or gpu
///   weights: [{name, from, type, bytes, bytes_saved, region}]: saved is less than 0 for scales, which f32 would not need; `region` if they lie
///            in one
///   nodes:   [{op, name, outputs: [name], steps: [number], in_floats}]: those of the model, in its order, those of regions after the node
///            that owns them; `steps` compute what remains of the node at run time; `in_floats`: why it is computed in floats although the
///            network is quantised, as the end of a sentence
///   floats:  [{op, reason, nodes: [{name, output}]}]: nodes with `in_floats`, those of one operator and reason together
///   on_host: the same of nodes with `on_host`
///   choices: [{node, value, winner, candidates: [{kernel, cost_ns, growth, note, narrow, predicted_ns}]}]: a narrow candidate is the
///            kernel before it with its weights in a narrower type; `predicted_ns` if --tune has replaced it by a measured time
///
/// Of a unit for a GPU, steps that compute and buffers have `device`, gpu or host, and `on_host` of steps and nodes is why the host computes
/// them, as the end of a sentence.
///
/// `variant`: a variant of the compilation, which is described instead of the general program.
nlohmann::ordered_json describe(const Described& described, const CompileOptions& options, const Variant* variant = nullptr);

/// A size of the description for these values of dimensions. Empty if it depends on others.
std::optional<int64_t> size_at(const nlohmann::ordered_json& size, const Sizes& dimensions);
/// A size or a name of the description as one line for people.
std::string line_of(const nlohmann::ordered_json& json);
/// The label of an origin: its name, or that of its output if it has none.
std::string label_of(const nlohmann::ordered_json& origin);

/// A group of `floats` or `on_host` as a line for people: `Conv 'a', 'b': its weights are not constant`.
std::string text_of_group(const nlohmann::ordered_json& group);

}  // namespace onnxc
