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

#define ONNXC_MAX_RANK 10

/* An element of a tensor of strings: `size` bytes, any of which may be 0. Strings are never changed once they are made.
 * Those that a run gives live in its inputs, in the unit, or in memory of the caller's allocator. */
typedef struct onnxc_string {
  const char* data;
  size_t size;
} onnxc_string;

enum onnxc_kind { ONNXC_TENSOR = 0, ONNXC_SEQUENCE = 1, ONNXC_OPTIONAL = 2, ONNXC_MAP = 3 };

/* A value of any kind. `data` points to
 *   a tensor's elements, row-major, 4-bit types one in a byte;
 *   the `count` onnxc_values of a sequence;
 *   the onnxc_value in an optional, where `count` is 1, or nothing where it is 0;
 *   a map's two onnxc_values: the tensor of its keys, and its values as a tensor, or as a sequence where they are none (`count` is 2). */
typedef struct onnxc_value {
  int32_t kind;      /* onnxc_kind */
  int32_t elem_type; /* a tensor's */
  int32_t rank;      /* a tensor's */
  int64_t count;     /* elements, items */
  const void* data;
  int64_t shape[ONNXC_MAX_RANK]; /* a tensor's */
} onnxc_value;

/* How an input or output is passed. */
enum onnxc_form {
  ONNXC_PLAIN = 0, /* a pointer to the elements */
  ONNXC_BOUNDED =
      1, /* an output whose shape depends on data: a pointer to room for the shape that output_shape gives; the run tells the shape */
  ONNXC_VALUE = 2 /* a pointer to an onnxc_value; of an output the run sets it, and what it points to is memory of the caller's allocator */
};

/* One input or output. */
typedef struct onnxc_tensor_info {
  const char* name;     /* ONNX name, UTF-8 */
  const char* cpp_name; /* the member of Inputs or Outputs */
  int32_t elem_type;    /* ONNX TensorProto.DataType; 0 for what is not a tensor */
  int32_t rank;         /* -1: of an output that tells it */
  const int64_t* shape; /* rank extents: d >= 0 is constant, d = -1 - k is symbol k, INT64_MIN is an expression of symbols */
  int32_t form;         /* onnxc_form */
  int32_t kind;         /* onnxc_kind */
} onnxc_tensor_info;

/* A dynamic dimension, in the order in which `symbols` arrays hold their values. */
typedef struct onnxc_symbol_info {
  const char* name; /* ONNX dim_param, or a made name */
  int64_t min, max; /* closed bounds; where none was declared, max is the largest with which sizes fit in 64 bits */
} onnxc_symbol_info;

/* The caller's threads: run body(context, i) for i in [0, count), in any order, at once or in turn, and return when all are done. */
typedef struct onnxc_executor {
  int32_t threads;
  void* self;
  void (*parallel_for)(void* self, int32_t count, void (*body)(void* context, int32_t i), void* context);
} onnxc_executor;

/* Memory for what has no bound before a run: strings, sequences, sizes that depend on data. A run takes blocks from it
 * for its scratch memory, which it gives back, and for the results that onnxc_values and strings of outputs point to,
 * which stay the caller's. After a run that fails, blocks that it took may still be out. */
typedef struct onnxc_allocator {
  void* self;
  void* (*allocate)(void* self, size_t bytes); /* aligned to 64 bytes; null when there is none left */
  void (*release)(void* self, void* block);
} onnxc_allocator;

/* One call. All pointers are the caller's; nothing is kept. Tensors are contiguous, row-major. */
typedef struct onnxc_call {
  const int64_t* symbols;        /* values of the model's symbols; may be null when it has none */
  const void* const* inputs;     /* one pointer for each input */
  void* const* outputs;          /* one pointer for each output, sized by output_shape */
  int64_t* const* output_shapes; /* null, or for each output null or room for `rank` extents, written by run */
  void* arena;                   /* arena_bytes(symbols) bytes, aligned to arena_alignment */
  size_t arena_bytes;
  const onnxc_executor* executor;   /* null: the calling thread alone */
  const onnxc_allocator* allocator; /* null where the model's needs_allocator is 0 */
  char* message;                    /* null, or room for `message_bytes` characters: a run that fails writes what went wrong, as a string */
  size_t message_bytes;
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
  size_t (*arena_bytes)(const int64_t* symbols); /* SIZE_MAX where a run would refuse the symbols */
  /* Extents of output k before it is run (an upper bound where they depend on data); -1 where a run would refuse the symbols. */
  void (*output_shape)(const int64_t* symbols, int32_t k, int64_t* extents);
  /* 0, or an onnxc_status. */
  int32_t (*run)(const onnxc_call* call);
  int32_t needs_allocator;
} onnxc_model;

/* What `run` may answer. onnxc::Status wraps it. */
enum onnxc_status {
  ONNXC_OK = 0,
  ONNXC_SMALL_ARENA = 1, /* fewer than arena_bytes bytes */
  ONNXC_MISALIGNED_ARENA = 2,
  ONNXC_WRONG_SIZE = 3,         /* a span has not the size that the model states */
  ONNXC_BAD_DIMENSION = 4,      /* a symbol lies outside its bounds, or dimensions do not fit together */
  ONNXC_INDEX_OUT_OF_RANGE = 5, /* Gather, Scatter, OneHot, ... */
  ONNXC_TRIP_LIMIT = 6,         /* a Loop ran longer than allowed */
  ONNXC_NULL_POINTER = 7,
  ONNXC_OUT_OF_MEMORY = 8, /* the caller's allocator or the GPU has no more, or a size overflows */
  ONNXC_BAD_VALUE = 9,     /* data that no result is defined for: an empty optional that is read, an image that cannot be decoded, ... */
  ONNXC_DEVICE_FAILED = 10 /* there is no such GPU, it refused some work, or that work ended it */
};

#ifdef __cplusplus
}
#endif
#endif
