#include "serving/data_type.h"

namespace onnxc::serving {
namespace {

constexpr DataType kTypes[] = {{"FP32", 1, 4},  {"UINT8", 2, 1},   {"INT8", 3, 1},    {"UINT16", 4, 2}, {"INT16", 5, 2},
                               {"INT32", 6, 4}, {"INT64", 7, 8},   {"BYTES", 8, 0},   {"BOOL", 9, 1},   {"FP16", 10, 2},
                               {"FP64", 11, 8}, {"UINT32", 12, 4}, {"UINT64", 13, 8}, {"BF16", 16, 2}};

}  // namespace

const DataType* find_type(int32_t onnx) {
  for (const DataType& type : kTypes) {
    if (type.onnx == onnx) return &type;
  }
  return nullptr;
}

const DataType* find_type(std::string_view name) {
  for (const DataType& type : kTypes) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

}  // namespace onnxc::serving
