// The element types of ONNX, with the numbers of TensorProto.DataType.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "compiler/support/checked.h"

namespace onnxc {

enum class ElementType : int32_t {
  Undefined = 0,
  F32 = 1,
  U8 = 2,
  I8 = 3,
  U16 = 4,
  I16 = 5,
  I32 = 6,
  I64 = 7,
  String = 8,
  Bool = 9,
  F16 = 10,
  F64 = 11,
  U32 = 12,
  U64 = 13,
  C64 = 14,
  C128 = 15,
  BF16 = 16,
  F8E4M3FN = 17,
  F8E4M3FNUZ = 18,
  F8E5M2 = 19,
  F8E5M2FNUZ = 20,
  U4 = 21,
  I4 = 22,
  F4E2M1 = 23,
  F8E8M0 = 24,
  U2 = 25,
  I2 = 26
};

struct ElementTypeInfo {
  ElementType type;
  std::string_view name;       ///< in the text form: f32
  std::string_view cpp_name;   ///< in emitted code: float
  std::string_view onnx_name;  ///< FLOAT
  int bits;                    ///< of a string: those of the onnxc_string that points to it
};

/// The row of `type`; there is one for Undefined as well.
const ElementTypeInfo& info(ElementType type);
std::optional<ElementType> element_type_named(std::string_view text_name);
/// Null for numbers that ONNX does not define.
std::optional<ElementType> element_type_numbered(int32_t data_type);

inline std::string_view name(ElementType type) { return info(type).name; }
/// Bits of an element in the arena and in operands of kernels, where elements of sub-byte types have a byte each.
inline int held_bits(ElementType type) { return info(type).bits > 0 && info(type).bits < 8 ? 8 : info(type).bits; }
/// Bytes of n elements in a file, an input or an output, where sub-byte types are packed, two or four to a byte.
/// Throws SizeOverflow.
inline int64_t storage_bytes(ElementType type, int64_t n) {
  const int bits = info(type).bits;
  if (bits == 0 || bits >= 8) return checked_mul(n, bits / 8);
  const int64_t per_byte = 8 / bits;
  return n / per_byte + (n % per_byte != 0);
}

inline bool is_byte(ElementType t) { return t == ElementType::U8 || t == ElementType::I8; }
inline bool is_half(ElementType t) { return t == ElementType::F16 || t == ElementType::BF16; }
inline bool is_float(ElementType t) {
  switch (t) {
    case ElementType::F32:
    case ElementType::F64:
    case ElementType::F16:
    case ElementType::BF16:
    case ElementType::F8E4M3FN:
    case ElementType::F8E4M3FNUZ:
    case ElementType::F8E5M2:
    case ElementType::F8E5M2FNUZ:
    case ElementType::F4E2M1:
    case ElementType::F8E8M0: return true;
    default: return false;
  }
}
inline bool is_integer(ElementType t) {
  switch (t) {
    case ElementType::U8:
    case ElementType::I8:
    case ElementType::U16:
    case ElementType::I16:
    case ElementType::U32:
    case ElementType::I32:
    case ElementType::U64:
    case ElementType::I64:
    case ElementType::U4:
    case ElementType::I4:
    case ElementType::U2:
    case ElementType::I2: return true;
    default: return false;
  }
}
inline bool is_signed(ElementType t) {
  switch (t) {
    case ElementType::I8:
    case ElementType::I16:
    case ElementType::I32:
    case ElementType::I64:
    case ElementType::I4:
    case ElementType::I2: return true;
    default: return is_float(t);
  }
}
/// Whether it is neither text nor complex, so that arithmetic on single numbers applies.
inline bool is_number(ElementType t) { return is_float(t) || is_integer(t) || t == ElementType::Bool; }
inline bool is_sub_byte(ElementType t) { return info(t).bits > 0 && info(t).bits < 8; }

}  // namespace onnxc
