// The worker's answers, as JSON: see worker.h.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "compiler/support/error.h"

namespace onnxc {

/// {"verdict": word, "reason": reason}; the word is passed, failed or unsupported.
nlohmann::json verdict(const char* word, const std::string& reason);

/// Unsupported for what onnxc cannot do yet, failed for everything else.
nlohmann::json verdict_of(const Error& error);

}  // namespace onnxc
