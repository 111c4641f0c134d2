#include "codegen/cuda_dialect.h"

#include <fmt/format.h>

#include "codegen/cpp_text.h"

namespace onnxc {

std::string CudaDialect::call(const Call& call, bool shared, bool forked) const {
  if (call.device == Device::Cpu) return CppDialect::call(call, shared, forked);
  // Scratch memory is a share's own.
  const std::string own = arguments(call, call.items != Dim(0));
  if (call.function.starts_with(".")) return fmt::format("gpu{}({})", call.function, own);
  if (call.items == Dim(0)) return fmt::format("onnxc::{}(gpu{}{})", function(call), own.empty() ? "" : ", ", own);
  std::string args = call.parallel ? "share" : "";
  if (!own.empty()) args += (args.empty() ? "" : ", ") + own;
  if (call.divisible) args += ", share";
  return fmt::format("onnxc::gpu::each(gpu, {}, [=] ONNXC_LAMBDA([[maybe_unused]] onnxc::Share share) {{ return onnxc::{}({}); }})",
                     cpp_dim(call.items, symbols()), function(call), args);
}

}  // namespace onnxc
