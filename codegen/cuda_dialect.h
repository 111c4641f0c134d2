// C++ for a processor and a GPU beside it: a step of the GPU enqueues work on `gpu`, an onnxc::gpu::Queue.
//
//   onnxc::gpu::softmax(gpu, ...);                                            a kernel of GPUs
//   onnxc::gpu::each(gpu, 540, [=] ONNXC_LAMBDA(onnxc::Share share) { ... }); a kernel of processors, for each of 540 threads
//   gpu.to_host(...);                                                         a transfer
#pragma once
#include "codegen/cpp_dialect.h"

namespace onnxc {

class CudaDialect final : public CppDialect {
 public:
  using CppDialect::CppDialect;
  std::string call(const Call& call, bool shared, bool forked) const override;
  std::string before(const Call& call) const override { return call.device == Device::Cpu ? "gpu.before_host_step();" : ""; }
};

}  // namespace onnxc
