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

/* ONNXC_CUDA_EMULATED: the unit was compiled without nvcc, and runs as on a GPU, on the processor. */
enum onnxc_device { ONNXC_CPU = 0, ONNXC_CUDA = 1, ONNXC_CUDA_EMULATED = 2 };

/* How a session uses a GPU. */
typedef struct onnxc_device_options {
  size_t struct_bytes; /* sizeof(onnxc_device_options): later versions append members */
  int32_t ordinal;     /* which GPU, as CUDA counts them */
  int32_t pageable;    /* not 0: no pinned memory of the host; copies come from the caller's memory */
  void* stream;        /* a cudaStream_t; null: one of the session's own */
} onnxc_device_options;

/* Memory of one GPU with the weights of a model in it: one run at a time. */
typedef struct onnxc_session onnxc_session;

/* Work that is put on a stream. Pointers are the caller's, to the device where nothing else is said; what they point to stays until the work is done. */
typedef struct onnxc_device_call {
  size_t struct_bytes;    /* sizeof(onnxc_device_call): later versions append members */
  const int64_t* symbols; /* on the host, as in onnxc_call */
  /* The array is on the host; so is what the pointers of input_devices[k] == ONNXC_CPU point to. Others: at a multiple of 16 bytes. */
  const void* const* inputs;
  void* const* outputs;          /* likewise */
  int64_t* const* output_shapes; /* on the host, as in onnxc_call */
  void* arena;                   /* device_arena_bytes(symbols) bytes, at a multiple of 256 */
  const void* weights;           /* a copy of weights_image, at a multiple of 256 */
  uint32_t* words;               /* device_words zeros; work that is done leaves an onnxc_status in the first, which the caller sets to 0 */
  void* host_arena;              /* on the host: arena_bytes(symbols) bytes, at a multiple of arena_alignment */
  void* stream;                  /* a cudaStream_t */
  const onnxc_allocator* allocator; /* as in onnxc_call */
  char* message;                    /* as in onnxc_call */
  size_t message_bytes;
} onnxc_device_call;

#ifdef __cplusplus /* where a unit gives no value, as those that were made before the member */
#define ONNXC_OTHERWISE(value) = value
#else
#define ONNXC_OTHERWISE(value)
#endif

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

  /* Of units for GPUs. Elsewhere `device` is ONNXC_CPU, and what follows it is null or 0. */
  int32_t device ONNXC_OTHERWISE(0);      /* onnxc_device */
  int32_t can_capture ONNXC_OTHERWISE(0); /* `enqueue` waits for nothing */
  size_t device_words ONNXC_OTHERWISE(0);
  size_t (*device_arena_bytes)(const int64_t* symbols) ONNXC_OTHERWISE(nullptr); /* SIZE_MAX as for arena_bytes */
  const void* (*weights_image)(size_t* bytes)ONNXC_OTHERWISE(nullptr);
  const int32_t* input_devices ONNXC_OTHERWISE(nullptr); /* for each input, the onnxc_device that `enqueue` takes it on */
  const int32_t* output_devices ONNXC_OTHERWISE(nullptr);
  /* Takes memory and copies the weights. options: null for the first GPU. message: as in onnxc_call. The session is null where that fails. */
  int32_t (*open)(const onnxc_device_options* options, onnxc_session** session, char* message, size_t message_bytes)
      ONNXC_OTHERWISE(nullptr);
  void (*close)(onnxc_session* session) ONNXC_OTHERWISE(nullptr);
  /* As `run`, which is the same in a session of its own, and slow. The arena of the call is not used. */
  int32_t (*run_in)(onnxc_session* session, const onnxc_call* call) ONNXC_OTHERWISE(nullptr);
  /* The answer says whether all work was put on the stream. */
  int32_t (*enqueue)(const onnxc_device_call* call) ONNXC_OTHERWISE(nullptr);

  /* For each output the input that is its state before the run, and has to begin at the same address; -1 for others. Null where there is none. */
  const int32_t* output_states ONNXC_OTHERWISE(nullptr);
} onnxc_model;

#undef ONNXC_OTHERWISE

/* What `run` may answer. onnxc::Status wraps it. */
enum onnxc_status {
  ONNXC_OK = 0,
  ONNXC_SMALL_ARENA = 1,        /* fewer than arena_bytes bytes */
  ONNXC_MISALIGNED = 2,         /* the arena, or memory of the GPU */
  ONNXC_WRONG_SIZE = 3,         /* a span has not the size that the model states */
  ONNXC_BAD_DIMENSION = 4,      /* a symbol lies outside its bounds, or dimensions do not fit together */
  ONNXC_INDEX_OUT_OF_RANGE = 5, /* Gather, Scatter, OneHot, ... */
  ONNXC_TRIP_LIMIT = 6,         /* a Loop ran longer than allowed */
  ONNXC_NULL_POINTER = 7,
  ONNXC_OUT_OF_MEMORY = 8,  /* the caller's allocator or the GPU has no more, or a size overflows */
  ONNXC_BAD_VALUE = 9,      /* data that no result is defined for: an empty optional that is read, an image that cannot be decoded, ... */
  ONNXC_DEVICE_FAILED = 10, /* there is no such GPU, it refused some work, or that work ended it */
  ONNXC_WRONG_RESULT = 11,  /* of a unit's self-test: an output is not what it should be */
  ONNXC_SEPARATE_STATE = 12 /* an output that is a state after the run does not begin where the state before it does */
};

#ifdef __cplusplus
}
#endif
#endif
