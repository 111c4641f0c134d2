// One run as Chrome's trace events, which Perfetto and chrome://tracing show.
#pragma once
#include <onnxc/profile.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tools/driver/model_call.h"

namespace onnxc {

/// Runs the model once more. Lane 0 is the calling thread; a step that threads share has its shares in lanes of their own, where share t is what thread t begins
/// with, though a thread that is free earlier may take it. Of a step in a loop, the last iteration is shown. `description`: of describe(), of the
/// program that runs; `variant`: what it is called, where it is a variant. Throws Error{Invalid} where the run fails.
nlohmann::ordered_json trace_run(const onnxc_profile& profile, ModelCall& call, double tick_ns, const nlohmann::ordered_json& description,
                                 const std::string& variant);

}  // namespace onnxc
