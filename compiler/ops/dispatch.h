// From an ElementType to a C++ type, for reference evaluation.
#pragma once
#include <utility>

#include "compiler/ir/element_type.h"
#include "compiler/support/error.h"
#include "runtime_stub/onnxc/model.h"
#include "runtime_stub/onnxc/types.hpp"

namespace onnxc {

[[noreturn]] void refuse_type(ElementType type);

/// f.operator()<T>() for the T of `type`; every numeric type of at least a byte, and bool.
template <class F>
void for_type(ElementType type, F&& f) {
  switch (type) {
    case ElementType::F32: return f.template operator()<float>();
    case ElementType::F64: return f.template operator()<double>();
    case ElementType::F16: return f.template operator()<float16>();
    case ElementType::BF16: return f.template operator()<bfloat16>();
    case ElementType::U8: return f.template operator()<uint8_t>();
    case ElementType::I8: return f.template operator()<int8_t>();
    case ElementType::U16: return f.template operator()<uint16_t>();
    case ElementType::I16: return f.template operator()<int16_t>();
    case ElementType::U32: return f.template operator()<uint32_t>();
    case ElementType::I32: return f.template operator()<int32_t>();
    case ElementType::U64: return f.template operator()<uint64_t>();
    case ElementType::I64: return f.template operator()<int64_t>();
    case ElementType::Bool: return f.template operator()<bool>();
    case ElementType::F8E4M3FN: return f.template operator()<float8e4m3fn>();
    case ElementType::F8E4M3FNUZ: return f.template operator()<float8e4m3fnuz>();
    case ElementType::F8E5M2: return f.template operator()<float8e5m2>();
    case ElementType::F8E5M2FNUZ: return f.template operator()<float8e5m2fnuz>();
    default: refuse_type(type);
  }
}

/// The same for Cast: with the types that are only stored.
template <class F>
void for_element(ElementType type, F&& f) {
  switch (type) {
    case ElementType::I4: return f.template operator()<int4>();
    case ElementType::U4: return f.template operator()<uint4>();
    case ElementType::I2: return f.template operator()<int2>();
    case ElementType::U2: return f.template operator()<uint2>();
    case ElementType::F4E2M1: return f.template operator()<float4e2m1>();
    case ElementType::F8E8M0: return f.template operator()<float8e8m0>();
    default: return for_type(type, std::forward<F>(f));
  }
}

/// The same for types on which arithmetic is common: floats and integers of at least a byte.
template <class F>
void for_number(ElementType type, F&& f) {
  switch (type) {
    case ElementType::F32: return f.template operator()<float>();
    case ElementType::F64: return f.template operator()<double>();
    case ElementType::F16: return f.template operator()<float16>();
    case ElementType::BF16: return f.template operator()<bfloat16>();
    case ElementType::U8: return f.template operator()<uint8_t>();
    case ElementType::I8: return f.template operator()<int8_t>();
    case ElementType::U16: return f.template operator()<uint16_t>();
    case ElementType::I16: return f.template operator()<int16_t>();
    case ElementType::U32: return f.template operator()<uint32_t>();
    case ElementType::I32: return f.template operator()<int32_t>();
    case ElementType::U64: return f.template operator()<uint64_t>();
    case ElementType::I64: return f.template operator()<int64_t>();
    default: refuse_type(type);
  }
}

/// The same for operators that are defined on floats alone.
template <class F>
void for_float(ElementType type, F&& f) {
  switch (type) {
    case ElementType::F32: return f.template operator()<float>();
    case ElementType::F64: return f.template operator()<double>();
    case ElementType::F16: return f.template operator()<float16>();
    case ElementType::BF16: return f.template operator()<bfloat16>();
    default: refuse_type(type);
  }
}

/// A type of the element's size, an unsigned one or onnxc_string: for operators that only move elements.
template <class F>
void for_size(ElementType type, F&& f) {
  switch (held_bits(type)) {
    case 8: return f.template operator()<uint8_t>();
    case 16: return f.template operator()<uint16_t>();
    case 32: return f.template operator()<uint32_t>();
    case 64: return f.template operator()<uint64_t>();
    case 128: return f.template operator()<onnxc_string>();
    default: refuse_type(type);
  }
}

/// int32_t or int64_t: the index types of ONNX.
template <class F>
void for_index(ElementType type, F&& f) {
  switch (type) {
    case ElementType::I32: return f.template operator()<int32_t>();
    case ElementType::I64: return f.template operator()<int64_t>();
    default: throw Error(ErrorKind::Invalid, "an index is " + std::string(name(type)) + ", not i32 or i64");
  }
}

}  // namespace onnxc
