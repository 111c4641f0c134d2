#include "compiler/ops/op_list.h"

namespace onnxc {

#define ONNXC_OPERATOR(name)       extern const Operator op_##name;
#define ONNXC_OPERATOR_TABLE(name) std::span<const Operator> table_##name();
#include "compiler/ops/op_list.inc"
#undef ONNXC_OPERATOR
#undef ONNXC_OPERATOR_TABLE

std::vector<const Operator*> list_operators() {
  std::vector<const Operator*> list;
#define ONNXC_OPERATOR(name) list.push_back(&op_##name);
#define ONNXC_OPERATOR_TABLE(name) \
  for (const Operator& op : table_##name()) list.push_back(&op);
#include "compiler/ops/op_list.inc"
#undef ONNXC_OPERATOR
#undef ONNXC_OPERATOR_TABLE
  return list;
}

}  // namespace onnxc
