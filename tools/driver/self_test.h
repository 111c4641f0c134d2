// The vectors of a unit's self-test: from data sets, or made up and computed by plain loops on this machine.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>

#include "codegen/compile.h"
#include "tools/driver/compare.h"

namespace onnxc {

/// `data`: a folder of data sets; empty: those beside the model, or, if there are none, made-up inputs with the outputs of the unit that -O0 gives.
/// The unit is built for this machine first and must pass. At most four vectors. Throws Error{Unsupported} for a model that can have no
/// self-test, and Error{Invalid} if the expected outputs are not what the unit gives here.
std::shared_ptr<const SelfTest> make_self_test(const std::filesystem::path& model, const CompileOptions& options,
                                               const std::optional<std::filesystem::path>& data);

}  // namespace onnxc
