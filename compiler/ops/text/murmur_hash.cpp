// com.microsoft.MurmurHash3: a hash of 32 bits of each element, strings or numbers.
#include <fmt/format.h>

#include "compiler/ops/dispatch.h"
#include "compiler/ops/kernel_query.h"
#include "runtime_stub/onnxc/scalar/text/murmur_hash.hpp"

namespace onnxc {
namespace {

/// An attribute has 64 bits; the seed is its lower half.
uint32_t seed_of(const Node& node) { return static_cast<uint32_t>(node.integer("seed", 0)); }

void infer_murmur_hash(Inference& n) {
  const ElementType type = n.element(0);
  const bool number = type == ElementType::I32 || type == ElementType::U32 || type == ElementType::I64 || type == ElementType::U64 ||
                      type == ElementType::F32 || type == ElementType::F64;
  if (!number && type != ElementType::String)
    n.fail(fmt::format("input 0 is {}; strings, integers and floats of 32 or 64 bits are allowed", name(type)));
  n.output(0, n.node().integer("positive", 1) != 0 ? ElementType::U32 : ElementType::I32, n.extents(0));
}

void evaluate_murmur_hash(Evaluation& e) {
  const auto hash = [&]<class T>() {
    if (e.output(0).type == ElementType::U32) scalar::murmur_hash(e.out<uint32_t>().data, e.in<T>(0), seed_of(e.node()));
    else scalar::murmur_hash(e.out<int32_t>().data, e.in<T>(0), seed_of(e.node()));
  };
  if (e.type(0) == ElementType::String) hash.template operator()<onnxc_string>();
  else for_number(e.type(0), hash);
}

void lower_murmur_hash(KernelQuery& l) {
  const View x = l.in(0), y = l.out(0);
  l.call("scalar_murmur_hash").pointer(y).tensor(x).arg(NumberArg{static_cast<double>(seed_of(l.node())), ElementType::U32}).emit();
}

}  // namespace

extern const Operator op_MurmurHash3;
const Operator op_MurmurHash3{.name = "MurmurHash3",
                              .domain = "com.microsoft",
                              .min_inputs = 1,
                              .max_inputs = 1,
                              .max_outputs = 1,
                              .infer = infer_murmur_hash,
                              .evaluate = evaluate_murmur_hash,
                              .lower = lower_murmur_hash};

}  // namespace onnxc
