// The first message of an error.
#pragma once
#include <functional>
#include <string>

#include "compiler/support/error.h"

namespace onnxc::test {

inline std::string message(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.diagnostics().front().text();
  }
  return "no error";
}

}  // namespace onnxc::test
