// Finds the cases: ONNX's suites by name, generated once into the cache, or any folder in their layout.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace onnxc {

struct Case {
  std::string suite, name;  ///< `node`, `test_abs`
  std::filesystem::path folder;
  std::string name_space;  ///< case_0123: its position among all cases, whatever the filter
  std::uintmax_t model_bytes = 0;
};

struct Suite {
  std::string name;
  std::vector<Case> cases;  ///< by name
};

/// `what` is node, light, simple, pytorch-converted or pytorch-operator, the folder of one case, or a folder with
/// cases at any depth. Throws Error{Io} if there are none.
Suite find_suite(const std::string& what);

/// Keeps the cases whose name matches the regular expression somewhere. Throws Error{Usage} for an invalid
/// expression.
void filter_cases(Suite& suite, const std::string& regex);

/// Keeps one of `n` cases, chosen by a hash of their names.
void sample_cases(Suite& suite, uint64_t n);

}  // namespace onnxc
