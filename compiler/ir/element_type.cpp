#include "compiler/ir/element_type.h"

#include <array>

namespace onnxc {
namespace {

using enum ElementType;
constexpr std::array<ElementTypeInfo, 27> kTypes{{
    {Undefined, "undefined", "void", "UNDEFINED", 0},
    {F32, "f32", "float", "FLOAT", 32},
    {U8, "u8", "std::uint8_t", "UINT8", 8},
    {I8, "i8", "std::int8_t", "INT8", 8},
    {U16, "u16", "std::uint16_t", "UINT16", 16},
    {I16, "i16", "std::int16_t", "INT16", 16},
    {I32, "i32", "std::int32_t", "INT32", 32},
    {I64, "i64", "std::int64_t", "INT64", 64},
    {String, "string", "onnxc_string", "STRING", 128},
    {Bool, "bool", "bool", "BOOL", 8},
    {F16, "f16", "onnxc::float16", "FLOAT16", 16},
    {F64, "f64", "double", "DOUBLE", 64},
    {U32, "u32", "std::uint32_t", "UINT32", 32},
    {U64, "u64", "std::uint64_t", "UINT64", 64},
    {C64, "c64", "onnxc::complex64", "COMPLEX64", 64},
    {C128, "c128", "onnxc::complex128", "COMPLEX128", 128},
    {BF16, "bf16", "onnxc::bfloat16", "BFLOAT16", 16},
    {F8E4M3FN, "f8e4m3fn", "onnxc::float8e4m3fn", "FLOAT8E4M3FN", 8},
    {F8E4M3FNUZ, "f8e4m3fnuz", "onnxc::float8e4m3fnuz", "FLOAT8E4M3FNUZ", 8},
    {F8E5M2, "f8e5m2", "onnxc::float8e5m2", "FLOAT8E5M2", 8},
    {F8E5M2FNUZ, "f8e5m2fnuz", "onnxc::float8e5m2fnuz", "FLOAT8E5M2FNUZ", 8},
    {U4, "u4", "onnxc::uint4", "UINT4", 4},
    {I4, "i4", "onnxc::int4", "INT4", 4},
    {F4E2M1, "f4e2m1", "onnxc::float4e2m1", "FLOAT4E2M1", 4},
    {F8E8M0, "f8e8m0", "onnxc::float8e8m0", "FLOAT8E8M0", 8},
    {U2, "u2", "onnxc::uint2", "UINT2", 2},
    {I2, "i2", "onnxc::int2", "INT2", 2},
}};

}  // namespace

const ElementTypeInfo& info(ElementType type) { return kTypes[static_cast<std::size_t>(type)]; }

std::optional<ElementType> element_type_named(std::string_view text_name) {
  for (const auto& row : kTypes) {
    if (row.name == text_name) return row.type;
  }
  return std::nullopt;
}

std::optional<ElementType> element_type_numbered(int32_t data_type) {
  if (data_type < 0 || data_type >= static_cast<int32_t>(kTypes.size())) return std::nullopt;
  return static_cast<ElementType>(data_type);
}

}  // namespace onnxc
