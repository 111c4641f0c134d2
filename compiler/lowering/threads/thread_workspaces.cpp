#include "compiler/lowering/threads/thread_workspaces.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "compiler/ir/element_type.h"

namespace onnxc {
namespace {

// Bytes. Hardware prefetchers do not cross pages, so a thread's prefetches never touch what another thread writes.
constexpr int64_t kPage = 4096;

int64_t bytes_of_share(const Program& program, const PointerArg& p) {
  return p.thread_stride.value() * held_bits(program[p.buffer].element) / 8;
}

/// Whether this is scratch memory of known size, in a buffer that only one step touches.
bool is_private(const PerBuffer<int>& steps, const PointerArg& p) {
  return p.thread_stride.is_constant() && p.thread_stride.value() > 0 && steps[p.buffer] == 1;
}

}  // namespace

void keep_thread_workspaces(Program& program, int threads) {
  PerBuffer<int> steps(program.buffers.size(), 0);  // that touch each buffer
  for_each_step(std::as_const(program.steps), [&](const Step& step, int) {
    std::vector<BufferId> touched;
    for_each_pointer(step, [&](const PointerArg& p) {
      if (std::ranges::find(touched, p.buffer) == touched.end()) touched.push_back(p.buffer);
    });
    for (BufferId id : touched) ++steps[id];
  });
  const auto kept = static_cast<BufferId>(program.buffers.size());
  std::map<BufferId, int64_t> places;  // bytes into the memory of a thread share
  int64_t share_bytes = 0;
  for_each_step(std::as_const(program.steps), [&](const Step& step, int) {
    int64_t end = 0;
    for_each_pointer(step, [&](const PointerArg& p) {
      if (is_private(steps, p) && places.emplace(p.buffer, end).second) end += bytes_of_share(program, p);
    });
    share_bytes = std::max(share_bytes, (end + kPage - 1) / kPage * kPage);
  });
  if (places.empty()) return;
  program.buffers.push_back({.name = "scratch of each thread",
                             .space = Buffer::Space::Arena,
                             .element = ElementType::F32,
                             .extents = {share_bytes / 4 * threads},
                             .bytes = share_bytes * threads});
  for_each_step(program.steps, [&](Step& step, int) {
    for_each_pointer(step, [&](PointerArg& p) {
      const auto place = places.find(p.buffer);
      if (place == places.end()) return;
      const ElementType element = program[p.buffer].element;
      const int64_t size = held_bits(element) / 8;
      p.buffer = kept;
      p.as = element;
      p.offset += place->second / size;
      p.thread_stride = share_bytes / size;
    });
  });
}

}  // namespace onnxc
