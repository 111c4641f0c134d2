#include "compiler/frontend/inline_functions.h"

#include <fmt/format.h>

#include <exception>
#include <new>

#include "compiler/frontend/check_functions.h"
#include "compiler/frontend/function_defaults.h"
#include "compiler/frontend/guard_inference.h"
#include "compiler/support/error.h"
#include "compiler/support/error_codes.h"
#include "onnx/inliner/inliner.h"
#include "onnx/onnx_pb.h"

namespace onnxc {

void inline_functions(onnx::ModelProto& model, const std::map<std::string, int64_t>& opsets, const Schemas::Predicate& knows,
                      const Schemas::Predicate& replaces, std::optional<int64_t> max_nodes) {
  if (model.functions_size() == 0) return;
  check_functions(model, opsets, knows, replaces, max_nodes);
  guard_inference();
  try {
    complete_calls(model);
    onnx::inliner::InlineLocalFunctions(model, true);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    throw Error(ErrorCode::FunctionCall, fmt::format("functions cannot be inlined: {}", reason_of(e)));
  }
}

}  // namespace onnxc
