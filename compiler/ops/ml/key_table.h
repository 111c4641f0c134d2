// Tables in which kernels look keys up; see runtime_stub/onnxc/contract/key_hash.hpp.
#pragma once
#include "compiler/ops/kernel_query.h"

namespace onnxc {

/// Keys without NaN as scalar::KeyTable has them; of equal ones only the first, or only the last. `order`: the original
/// index of each.
struct KeyTable {
  TensorData keys;
  std::vector<int32_t> first;
  int64_t bits = 1;
  std::vector<int64_t> order;
  int64_t nan = -1;  ///< the index of NaN
};

/// Of keys of one type; of equal ones, the table has the first or the last.
KeyTable key_table(const TensorData& keys, bool last = false);
/// The members of scalar::KeyTable.
NamedArgs key_table_params(KernelQuery& query, const std::string& from, const KeyTable& table);
/// Some elements of a tensor of any type but those of less than a byte, as a list.
TensorData elements(const TensorData& from, const std::vector<int64_t>& indices);

}  // namespace onnxc
