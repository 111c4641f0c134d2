#include "compiler/select/weights/stored.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>

#include "compiler/select/weights/pack.h"
#include "runtime_stub/onnxc/types.hpp"

namespace onnxc {
namespace {

template <class T, class Narrow>
std::vector<std::byte> stored_as(std::span<const float> values, Narrow narrow) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::byte* to = bytes.data();
  for (std::size_t i = 0; i < values.size(); ++i, to += sizeof(T)) {
    const T element = narrow(values[i], static_cast<int64_t>(i));
    std::memcpy(to, &element, sizeof element);
  }
  return bytes;
}

int64_t width(const Storage& storage) { return info(storage.element).bits / 8; }

/// What it costs to widen an element, in multiply-adds of a gemm.
double widening_macs(ElementType element, const WideningCosts& costs) {
  if (element == ElementType::F16) return costs.f16;
  if (element == ElementType::BF16) return costs.bf16;
  if (element == ElementType::I8) return costs.i8;
  return 0;
}

}  // namespace

std::vector<std::byte> store(std::span<const float> panels, int64_t k, int64_t nr, ElementType element, std::span<const float> scales,
                             int64_t lanes) {
  const int64_t whole = nr / lanes * lanes;
  const auto column = [&](int64_t i) {
    if (whole == nr) return i % nr;
    const int64_t in_two = i % (2 * nr);
    return in_two < 2 * whole ? in_two % whole : whole + (in_two - 2 * whole) / 2;
  };
  switch (element) {
    case ElementType::F16: return stored_as<float16>(panels, [](float x, int64_t) { return float16(x); });
    case ElementType::BF16: return stored_as<bfloat16>(panels, [](float x, int64_t) { return bfloat16(x); });
    case ElementType::I8:
      return stored_as<int8_t>(panels, [&](float x, int64_t i) {
        const float scale = scales[static_cast<std::size_t>(i / (k * nr) * nr + column(i))];
        return scale > 0 ? code_of(x, scale) : int8_t{0};
      });
    default: return stored_as<float>(panels, [](float x, int64_t) { return x; });
  }
}

std::vector<Storage> candidate_storages(const KernelQuery& l, const std::vector<Columns>& b, Dim rows, int64_t tile, bool rounds) {
  const bool all = l.narrow_weights() == NarrowWeights::All, waits = l.weights_stream() && rows.is_constant() && rows.value() <= tile;
  std::vector<Storage> candidates{Storage()};
  if (!all && (l.narrow_weights() == NarrowWeights::Off || !waits)) return candidates;
  KnownStorages* const known = l.known_storages();
  const auto key = [](const Columns& c) { return std::tuple(c.values.data(), c.values.size(), c.count, c.whole); };
  if (known != nullptr && !b.empty()) {
    const auto [it, fresh] = known->exact.try_emplace({key(b.front()), key(b.back())});
    if (fresh) it->second = exact_storages(b);
    candidates.insert(candidates.end(), it->second.begin(), it->second.end());
  } else {
    std::ranges::move(exact_storages(b), std::back_inserter(candidates));
  }
  if (rounds && std::ranges::find(candidates, ElementType::BF16, &Storage::element) == candidates.end())
    candidates.push_back({ElementType::BF16, {}});
  if (!all) return candidates;
  int64_t count = 0;
  for (const Columns& columns : b) count += static_cast<int64_t>(columns.values.size());
  const auto bytes = [&](const Storage& storage) { return width(storage) * count + 4 * static_cast<int64_t>(storage.scales.size()); };
  const int64_t least = bytes(*std::ranges::min_element(candidates, {}, bytes));
  std::erase_if(candidates, [&](const Storage& storage) { return storage.element != ElementType::F32 && bytes(storage) > least; });
  return candidates;
}

void consider_stored(KernelQuery& l, const StoredKernel& kernel, const std::vector<Storage>& storages,
                     const std::function<void(const Storage&)>& build) {
  for (const Storage& storage : storages) {
    const bool narrow = storage.element != ElementType::F32;
    const int64_t count = kernel.k * kernel.n, bytes = width(storage) * count + (storage.element == ElementType::I8 ? 4 * kernel.n : 0);
    const double widening = widening_macs(storage.element, l.target().machine->widening) * static_cast<double>(count);
    l.consider(
        kernel.row, kernel.macs + kernel.readings * widening, static_cast<double>(bytes), [build, storage] { build(storage); },
        bytes - 4 * (count - kernel.added),
        narrow ? fmt::format("{} as {}", kernel.note.empty() ? "weights" : kernel.note, name(storage.element)) : kernel.note, narrow);
  }
}

PointerArg add_stored(KernelQuery& l, const std::string& from, const Packed& panels, int64_t k, int64_t nr, const Storage& storage,
                      std::vector<float> scales, NamedArgs& params) {
  if (storage.element == ElementType::F32) return l.weights(from, panels);
  const auto drafted = l.draft(from, panels, storage.element);
  const PointerArg stored =
      drafted ? *drafted
              : l.weights(from, storage.element,
                          panels.bytes(panels.count * width(storage),
                                       [make = panels.make, k, nr, element = storage.element, scales, lanes = l.target().vector_floats] {
                                         return Bytes(store(make(), k, nr, element, scales, lanes));
                                       }),
                          panels.count * 4);
  if (storage.element == ElementType::I8) {
    const auto* const first = reinterpret_cast<const std::byte*>(scales.data());
    params.emplace_back("scales",
                        l.weights(from, ElementType::F32, Bytes(std::vector<std::byte>(first, first + scales.size() * sizeof(float))), 0));
  }
  return stored;
}

}  // namespace onnxc
