// Support vector machines of ai.onnx.ml.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/ops/kernel_query.h"

namespace onnxc {

/// What a node says, checked. Without vectors it is linear, with a row of coefficients for each class.
struct SvmModel {
  std::vector<float> coefficients, vectors, rho, prob_a, prob_b, kernel{0, 0, 0};
  std::string kernel_type;
  std::vector<int64_t> vectors_of;
  int64_t vector_count = 0, features = 0, classes = 1;

  int64_t pairs() const { return classes * (classes - 1) / 2; }
  /// Scores of a row.
  int64_t scores() const {
    if (vector_count == 0 || !prob_a.empty()) return classes;
    return classes == 2 ? 2 : pairs();
  }
};

/// A machine that is to be lowered.
struct SvmCall {
  const Node& node;
  SvmModel model;
  View x;                      ///< [rows, features]
  View y;                      ///< [rows, scores]
  bool is_classifier = false;  ///< output 0 is the number of the class

  double macs() const;  ///< of all rows, or of one where their number is not known
  bool one_class() const;
};

/// The enumerator of scalar::SvmKernel.
std::string svm_kernel_name(const SvmModel& m);
/// scalar::Svm{...}
NamedArgs svm_params(KernelQuery& l, const SvmModel& m, std::optional<PointerArg> vectors);
/// scalar::SvmClasses{...}
NamedArgs svm_class_params(KernelQuery& l, const SvmModel& m);

}  // namespace onnxc
