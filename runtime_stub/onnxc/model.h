/* The C ABI of a compiled model: names, types, shapes, sizes and `run`, for any language.
 *
 * A unit `mnist.cpp` defines `const onnxc_model* mnist_model(void)`. Everything behind the pointer is constant and lives as long
 * as the program. Later versions only append members; `struct_bytes` tells which ones a unit has.
 */
#ifndef ONNXC_MODEL_H
#define ONNXC_MODEL_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One input or output. */
typedef struct onnxc_tensor_info {
  const char* name;     /* ONNX name, UTF-8 */
  const char* cpp_name; /* the member of Inputs or Outputs */
  int32_t elem_type;    /* ONNX TensorProto.DataType */
  int32_t rank;
  const int64_t* shape; /* rank extents: d >= 0 is constant, d = -1 - k is symbol k, INT64_MIN is an expression of symbols */
} onnxc_tensor_info;

/* A dynamic dimension, in the order in which `symbols` arrays hold their values. */
typedef struct onnxc_symbol_info {
  const char* name; /* ONNX dim_param, or a made name */
  int64_t min, max; /* closed bounds; max = INT64_MAX where none was declared */
} onnxc_symbol_info;

/* The caller's threads: run body(context, i) for i in [0, count), in any order, at once or in turn, and return when all are done. */
typedef struct onnxc_executor {
  int32_t threads;
  void* self;
  void (*parallel_for)(void* self, int32_t count, void (*body)(void* context, int32_t i), void* context);
} onnxc_executor;

/* One call. All pointers are the caller's; nothing is kept. Tensors are contiguous, row-major. */
typedef struct onnxc_call {
  const int64_t* symbols;         /* values of the model's symbols; may be null when it has none */
  const void* const* inputs;      /* one pointer for each input */
  void* const* outputs;           /* one pointer for each output, sized by output_shape */
  int64_t* const* output_shapes;  /* null, or for each output null or room for `rank` extents, written by run */
  void* arena;                    /* arena_bytes(symbols) bytes, aligned to arena_alignment */
  size_t arena_bytes;
  const onnxc_executor* executor; /* null: the calling thread alone */
} onnxc_call;

typedef struct onnxc_model {
  size_t struct_bytes;
  const char* name;
  const char* version;      /* onnxc's version */
  const char* model_sha256; /* of the ONNX file, hexadecimal */
  const char* target;
  int32_t input_count, output_count, symbol_count;
  const onnxc_tensor_info* inputs;
  const onnxc_tensor_info* outputs;
  const onnxc_symbol_info* symbols;
  size_t arena_alignment;
  size_t weights_bytes;
  size_t (*arena_bytes)(const int64_t* symbols);
  /* Extents of output k before it is run (an upper bound where they depend on data). */
  void (*output_shape)(const int64_t* symbols, int32_t k, int64_t* extents);
  /* 0, or an onnxc_status. */
  int32_t (*run)(const onnxc_call* call);
} onnxc_model;

/* What `run` may answer. onnxc::Status wraps it. */
enum onnxc_status {
  ONNXC_OK = 0,
  ONNXC_SMALL_ARENA = 1,        /* fewer than arena_bytes bytes */
  ONNXC_MISALIGNED_ARENA = 2,
  ONNXC_WRONG_SIZE = 3,         /* a span has not the size that the model states */
  ONNXC_BAD_DIMENSION = 4,      /* a symbol lies outside its bounds, or dimensions do not fit together */
  ONNXC_INDEX_OUT_OF_RANGE = 5, /* Gather, Scatter, OneHot, ... */
  ONNXC_TRIP_LIMIT = 6,         /* a Loop ran longer than allowed */
  ONNXC_NULL_POINTER = 7
};

#ifdef __cplusplus
}
#endif
#endif
