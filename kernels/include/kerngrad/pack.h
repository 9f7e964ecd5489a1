/* SPDX-License-Identifier: Apache-2.0
 * Kernel packs: shared libraries with kernels and gradients that kg::load_pack loads at run time. The header is plain
 * C99 and C++. A pack links nothing of kerngrad: it calls the functions of the table `kerngrad_host`.
 *
 * A pack exports one symbol, the constant `kerngrad_pack_v1`, which KERNGRAD_PACK defines. Its magic, ABI version and
 * sizes are read from the file before the library is mapped, so that no code of a pack which does not fit runs. Then
 * the host calls `init` once, which registers kernels and gradients. If it returns KERNGRAD_OK, the host adds all of
 * them together; otherwise it adds none.
 *
 * Rules, for all functions of a pack:
 * - They return KERNGRAD_OK, or another number for a failure. host->fail or host->refuse sets the error message.
 * - They must not throw, and not leave by longjmp. (The host turns an exception of the same C++ run-time library into
 *   a failure; of another one it ends the program.)
 * - Once a function of the host has failed for a call, the call has failed whatever the pack returns, the functions
 *   that follow do nothing and fail, and the first error is the one that is reported. So a chain of calls needs one
 *   check, at its end.
 * - Kernels and gradients may be called from several threads at once; one call belongs to the thread that it is made
 *   on. Handles (kerngrad_call, kerngrad_tensor, kerngrad_pack) and the memory behind them are the host's, and are
 *   valid until the function returns; there is nothing to free.
 * - Names are UTF-8 of 1 to 127 bytes without control characters.
 *
 * Structs begin with their size. Later versions of this header only append members, to structs and to the host's
 * table. 0 in an appended member stands for the old behaviour, so packs of an older header keep loading. The host
 * rejects a pack of a newer header if the pack's table is larger than its own, or if the pack uses a member that the
 * host does not know. Other changes get a new KERNGRAD_PACK_ABI, and the host rejects packs of another number.
 */
#ifndef KERNGRAD_PACK_H_
#define KERNGRAD_PACK_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KERNGRAD_PACK_ABI 1
/* "kerngrad" in the file of a little-endian machine. */
#define KERNGRAD_PACK_MAGIC UINT64_C(0x646172676e72656b)

enum { KERNGRAD_OK = 0, KERNGRAD_FAILED = 1 };

/* Element types. booleans are bytes of 0 or 1, complex64 is two floats, complex128 two doubles; float16 is IEEE 754's
 * binary16, bfloat16 the upper half of a float. */
enum {
  KERNGRAD_FLOAT32,
  KERNGRAD_FLOAT64,
  KERNGRAD_INT32,
  KERNGRAD_INT64,
  KERNGRAD_UINT8,
  KERNGRAD_BOOL,
  KERNGRAD_COMPLEX64,
  KERNGRAD_FLOAT16,
  KERNGRAD_BFLOAT16,
  KERNGRAD_COMPLEX128,
  KERNGRAD_INT8 = 11, /* 10 is text, which packs do not get */
  KERNGRAD_INT16,
  KERNGRAD_UINT16,
  KERNGRAD_UINT32
};
/* A member of a set of dtypes: KERNGRAD_SET(KERNGRAD_FLOAT32) | KERNGRAD_SET(KERNGRAD_FLOAT64). */
#define KERNGRAD_SET(dtype) (UINT32_C(1) << (dtype))

/* Kinds of attributes. */
enum {
  KERNGRAD_BOOLEAN_ATTR = 1,
  KERNGRAD_INTEGER_ATTR,
  KERNGRAD_NUMBER_ATTR,
  KERNGRAD_DTYPE_ATTR,
  KERNGRAD_TEXT_ATTR,
  KERNGRAD_LIST_ATTR,   /* of integers */
  KERNGRAD_NUMBERS_ATTR /* of numbers */
};

typedef struct kerngrad_pack kerngrad_pack;     /* a pack while its init runs */
typedef struct kerngrad_call kerngrad_call;     /* one call of a kernel or of a gradient */
typedef struct kerngrad_tensor kerngrad_tensor; /* a tensor of a call */

/* ------------------------------------------------------------------------------------------ what is registered */

enum { KERNGRAD_OPTIONAL = 1, KERNGRAD_LIST = 2 }; /* a list operand is the only one */

/* An operand of an op. */
typedef struct kerngrad_operand {
  uint32_t struct_size;
  uint32_t flags;
  const char* name;
  uint32_t dtypes;   /* that it may have; 0: all */
  uint32_t reserved; /* 0 */
} kerngrad_operand;

enum { KERNGRAD_REQUIRED = 1, KERNGRAD_BOUNDED = 2 };

/* An attribute of an op. */
typedef struct kerngrad_attr {
  uint32_t struct_size;
  uint32_t flags;
  const char* name;
  const char* doc; /* one line; may be NULL */
  int32_t kind;
  int32_t reserved;    /* 0 */
  double fallback;     /* the default of booleans, integers, numbers and dtypes that are not required */
  double least, most;  /* with KERNGRAD_BOUNDED: of integers, numbers and the items of lists */
  const char* choices; /* of a text: "same|valid", the first is the default; may be NULL for a required one */
} kerngrad_attr;

/* Operands, attributes and results of an op. Calls are checked against it before a kernel gets them. */
typedef struct kerngrad_schema {
  uint32_t struct_size;
  int32_t operand_count; /* 0 to 8 */
  const kerngrad_operand* operands;
  const kerngrad_attr* attrs;
  int32_t attr_count;   /* 0 to 16 */
  int32_t result_count; /* 1 to 16: how many results every call has */
  const char* doc;      /* one line; may be NULL */
} kerngrad_schema;

typedef int (*kerngrad_function)(kerngrad_call* call, void* user);

/* A kernel: the implementation of an op on one backend. */
typedef struct kerngrad_kernel {
  uint32_t struct_size;
  uint32_t flags; /* 0 */
  const char* name;
  const char* backend;           /* NULL: "simd" */
  const kerngrad_schema* schema; /* NULL for a built-in op, which has its own, and only for it */
  kerngrad_function run;
  void* user; /* given to `run` */
} kerngrad_kernel;

enum { KERNGRAD_SAVES_RESULTS = 1 };

/* The gradient of an op, for all its backends. The pack registers the op, or the op exists and has no gradient. */
typedef struct kerngrad_gradient {
  uint32_t struct_size;
  uint32_t flags;
  const char* name;
  const char* const* saves; /* operands that are kept for it; the others have shape and dtype only */
  int32_t save_count;
  int32_t reserved; /* 0 */
  kerngrad_function run;
  void* user;
} kerngrad_gradient;

/* ------------------------------------------------------------------------------------------ running ops */

/* An operand for host->run. With a NULL name it is the op's operand at the same index. A list operand has several
 * tensors. */
typedef struct kerngrad_argument {
  uint32_t struct_size;
  int32_t count;
  const char* name;
  const kerngrad_tensor* const* tensors;
} kerngrad_argument;

/* An attribute for host->run. */
typedef struct kerngrad_value {
  uint32_t struct_size;
  int32_t kind;
  const char* name;
  int64_t integer;       /* booleans, integers, dtypes */
  double number;         /* numbers */
  const char* text;      /* texts */
  const int64_t* list;   /* lists */
  int32_t count;         /* of the list */
  int32_t reserved;      /* 0 */
  const double* numbers; /* lists of numbers, `count` of them */
} kerngrad_value;

/* ------------------------------------------------------------------------------------------ the host */

/* The functions of the host; valid until the program ends. Functions that return int return KERNGRAD_OK or
 * KERNGRAD_FAILED, unless their comment says otherwise. Functions that return a pointer return NULL if they fail. */
typedef struct kerngrad_host {
  uint32_t struct_size;
  uint32_t abi_version;

  /* For init only. Texts and arrays are copied. */
  int (*register_kernel)(kerngrad_pack* pack, const kerngrad_kernel* kernel);
  int (*register_gradient)(kerngrad_pack* pack, const kerngrad_gradient* gradient);
  /* Sets the reason why init fails: `return host->refuse(pack, "...")`. */
  int (*refuse)(kerngrad_pack* pack, const char* text);

  /* For calls. Sets the reason why the call fails, in at most 1000 bytes: `return host->fail(call, "...")`. */
  int (*fail)(kerngrad_call* call, const char* text);

  /* Operands: in a kernel all, in a gradient those that are saved. */
  int32_t (*operand_count)(kerngrad_call* call, const char* name); /* tensors given for it: 0 if it was omitted */
  const kerngrad_tensor* (*operand)(kerngrad_call* call, const char* name, int32_t index); /* index: in a list, or 0 */

  /* Tensors. dtype, rank and size return -1 if they fail; dims returns `rank` items. */
  int32_t (*dtype)(kerngrad_call* call, const kerngrad_tensor* x);
  int32_t (*rank)(kerngrad_call* call, const kerngrad_tensor* x);
  const int64_t* (*dims)(kerngrad_call* call, const kerngrad_tensor* x);
  int64_t (*size)(kerngrad_call* call, const kerngrad_tensor* x);     /* number of elements */
  const void* (*data)(kerngrad_call* call, const kerngrad_tensor* x); /* row-major */

  /* Attributes; those that were omitted have their defaults. Texts end with 0. */
  int (*has_attr)(kerngrad_call* call, const char* name); /* 1 or 0 */
  int (*get_boolean)(kerngrad_call* call, const char* name, int32_t* value);
  int (*get_integer)(kerngrad_call* call, const char* name, int64_t* value);
  int (*get_number)(kerngrad_call* call, const char* name, double* value); /* takes integers too */
  int (*get_dtype)(kerngrad_call* call, const char* name, int32_t* value);
  int (*get_text)(kerngrad_call* call, const char* name, const char** value);
  int (*get_list)(kerngrad_call* call, const char* name, const int64_t** values, int32_t* count);

  /* Kernels: makes the next result, in order. Returns the memory of its elements; the kernel must write all of them. */
  void* (*make_result)(kerngrad_call* call, int32_t dtype, int32_t rank, const int64_t* dims);
  /* Kernels: returns a tensor as the next result. */
  int (*give_result)(kerngrad_call* call, const kerngrad_tensor* x);

  /* Gradients. */
  const kerngrad_tensor* (*dy)(kerngrad_call* call, int32_t k);     /* the gradient of result k */
  const kerngrad_tensor* (*result)(kerngrad_call* call, int32_t k); /* with KERNGRAD_SAVES_RESULTS */
  int (*wants)(kerngrad_call* call, const char* operand);           /* 1 if its gradient will be used, else 0 */
  /* Shape and dtype of an operand, saved or not; any of the three may be NULL. */
  int (*operand_shape)(kerngrad_call* call, const char* name, int32_t index, int32_t* dtype, int32_t* rank,
                       const int64_t** dims);
  /* Sets the gradient of an operand, or of a tensor of a list, once at most. It has the shape and dtype of the
   * operand. Without it the operand has no gradient. */
  int (*set_gradient)(kerngrad_call* call, const char* operand, int32_t index, const kerngrad_tensor* gradient);

  /* Runs an op with one result by name, built in or registered. In a gradient the call can be differentiated again. A
   * tensor from a loop over `data` cannot: it is a constant. */
  const kerngrad_tensor* (*run)(kerngrad_call* call, const char* op, const kerngrad_argument* arguments,
                                int32_t argument_count, const kerngrad_value* values, int32_t value_count);
  /* Makes a tensor with a copy of the elements. */
  const kerngrad_tensor* (*make_tensor)(kerngrad_call* call, int32_t dtype, int32_t rank, const int64_t* dims,
                                        const void* elements);

  /* Gets an attribute that is a list of numbers; the list is valid until the call ends. */
  int (*get_numbers)(kerngrad_call* call, const char* name, const double** values, int32_t* count);
} kerngrad_host;

/* ------------------------------------------------------------------------------------------ the exported symbol */

typedef struct kerngrad_pack_info {
  uint32_t struct_size;
  uint32_t abi_version;
  uint64_t magic;
  uint32_t host_size; /* of the table that the pack was compiled with: a host with a smaller one refuses it */
  uint32_t reserved;  /* 0 */
  const char* name;
  const char* version; /* of the pack, for listings; may be NULL */
  int (*init)(const kerngrad_host* host, kerngrad_pack* self);
} kerngrad_pack_info;

#if defined(__GNUC__)
#define KERNGRAD_EXPORT __attribute__((visibility("default")))
#else
#define KERNGRAD_EXPORT
#endif

extern KERNGRAD_EXPORT const kerngrad_pack_info kerngrad_pack_v1;

/* Defines the exported symbol: KERNGRAD_PACK("name", "1.0", init). Use it once, at file scope. */
#define KERNGRAD_PACK(pack_name, pack_version, init_function)              \
  const kerngrad_pack_info kerngrad_pack_v1 = {sizeof(kerngrad_pack_info), \
                                               KERNGRAD_PACK_ABI,          \
                                               KERNGRAD_PACK_MAGIC,        \
                                               sizeof(kerngrad_host),      \
                                               0,                          \
                                               (pack_name),                \
                                               (pack_version),             \
                                               (init_function)}

/* ------------------------------------------------------------------------------------------ shorter to write */

/* Run an op of one or two operands, without attributes. */
static inline const kerngrad_tensor* kerngrad_run1(const kerngrad_host* host, kerngrad_call* call, const char* op,
                                                   const kerngrad_tensor* x) {
  const kerngrad_argument argument = {sizeof(kerngrad_argument), 1, 0, &x};
  return host->run(call, op, &argument, 1, 0, 0);
}
static inline const kerngrad_tensor* kerngrad_run2(const kerngrad_host* host, kerngrad_call* call, const char* op,
                                                   const kerngrad_tensor* a, const kerngrad_tensor* b) {
  const kerngrad_argument arguments[2] = {{sizeof(kerngrad_argument), 1, 0, &a}, {sizeof(kerngrad_argument), 1, 0, &b}};
  return host->run(call, op, arguments, 2, 0, 0);
}
/* Makes a floating scalar for arithmetic with x: float64 if x is float64, else float32. */
static inline const kerngrad_tensor* kerngrad_scalar(const kerngrad_host* host, kerngrad_call* call, double value,
                                                     const kerngrad_tensor* x) {
  const int32_t dtype = host->dtype(call, x);
  const float narrow = (float)value;
  return host->make_tensor(call, dtype == KERNGRAD_FLOAT64 ? KERNGRAD_FLOAT64 : KERNGRAD_FLOAT32, 0, 0,
                           dtype == KERNGRAD_FLOAT64 ? (const void*)&value : (const void*)&narrow);
}

#ifdef __cplusplus
}
#endif

#endif
