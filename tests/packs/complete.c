/* SPDX-License-Identifier: Apache-2.0
 * A pack that uses what the examples do not: lists, several results, optional operands, every kind of attribute. */
#include <kerngrad/pack.h>
#include <string.h>

static const kerngrad_host* host;

/* The sum of a list of tensors, and how many they are. */
static int total(kerngrad_call* call, void* user) {
  const int32_t count = host->operand_count(call, "tensors");
  const kerngrad_tensor* first = host->operand(call, "tensors", 0);
  const int64_t n = host->size(call, first);
  float* sum = host->make_result(call, KERNGRAD_FLOAT32, host->rank(call, first), host->dims(call, first));
  int64_t* counted = host->make_result(call, KERNGRAD_INT64, 0, 0);
  (void)user;
  if (!counted) return KERNGRAD_FAILED;
  *counted = count;
  for (int64_t i = 0; i < n; ++i) sum[i] = 0;
  for (int32_t k = 0; k < count; ++k) {
    const kerngrad_tensor* x = host->operand(call, "tensors", k);
    const float* from = host->data(call, x);
    if (host->size(call, x) != n) return host->fail(call, "tensors of different sizes");
    for (int64_t i = 0; i < n; ++i) sum[i] += from[i];
  }
  return KERNGRAD_OK;
}

static int total_gradient(kerngrad_call* call, void* user) {
  (void)user;
  for (int32_t k = 0, count = host->operand_count(call, "tensors"); k < count; ++k) {
    int32_t dtype, rank;
    const int64_t* dims;
    host->operand_shape(call, "tensors", k, &dtype, &rank, &dims);
    if (dtype != KERNGRAD_FLOAT32 || rank != 1 || dims[0] != 3)
      return host->fail(call, "another shape than the test's");
    if (host->wants(call, "tensors")) host->set_gradient(call, "tensors", k, host->dy(call, 0));
  }
  return KERNGRAD_OK;
}

/* What the call looks like from here, as numbers. */
static int options(kerngrad_call* call, void* user) {
  const kerngrad_tensor* x = host->operand(call, "x", 0);
  const int64_t size = 10;
  double* y = host->make_result(call, KERNGRAD_FLOAT64, 1, &size);
  int32_t flag = -1, dtype = -1, items = 0;
  int64_t whole = -1;
  const int64_t* list = 0;
  const char* mode = "";
  (void)user;
  host->get_boolean(call, "flag", &flag);
  host->get_integer(call, "whole", &whole);
  host->get_number(call, "rate", &y[2]);
  host->get_dtype(call, "type", &dtype);
  if (host->get_text(call, "mode", &mode) != KERNGRAD_OK) return KERNGRAD_FAILED;
  y[0] = flag, y[1] = (double)whole, y[3] = dtype, y[4] = (double)strlen(mode), y[5] = -1;
  if (host->has_attr(call, "axes")) {
    host->get_list(call, "axes", &list, &items);
    y[5] = items;
    for (int32_t i = 0; i < items; ++i) y[5] += (double)list[i];
  }
  y[6] = host->operand_count(call, "y"), y[7] = host->dtype(call, x), y[8] = host->rank(call, x);
  y[9] = (double)host->size(call, x);
  return KERNGRAD_OK;
}

static int init(const kerngrad_host* given, kerngrad_pack* self) {
  const kerngrad_operand tensors = {sizeof tensors, KERNGRAD_LIST, "tensors", KERNGRAD_SET(KERNGRAD_FLOAT32), 0};
  const kerngrad_schema total_schema = {sizeof total_schema, 1, &tensors, 0, 0, 2, "Sum and count."};
  const kerngrad_kernel total_kernel = {sizeof total_kernel, 0, "Complete", 0, &total_schema, total, 0};
  const kerngrad_gradient total_rule = {sizeof total_rule, 0, "Complete", 0, 0, 0, total_gradient, 0};
  const kerngrad_operand operands[2] = {{sizeof(kerngrad_operand), 0, "x", 0, 0},
                                        {sizeof(kerngrad_operand), KERNGRAD_OPTIONAL, "y", 0, 0}};
  const kerngrad_attr attrs[6] = {
      {sizeof(kerngrad_attr), 0, "flag", 0, KERNGRAD_BOOLEAN_ATTR, 0, 1, 0, 0, 0},
      {sizeof(kerngrad_attr), KERNGRAD_BOUNDED, "whole", 0, KERNGRAD_INTEGER_ATTR, 0, 3, 0, 9, 0},
      {sizeof(kerngrad_attr), 0, "rate", 0, KERNGRAD_NUMBER_ATTR, 0, 0.25, 0, 0, 0},
      {sizeof(kerngrad_attr), 0, "type", 0, KERNGRAD_DTYPE_ATTR, 0, KERNGRAD_INT64, 0, 0, 0},
      {sizeof(kerngrad_attr), 0, "mode", 0, KERNGRAD_TEXT_ATTR, 0, 0, 0, 0, "same|valid"},
      {sizeof(kerngrad_attr), 0, "axes", 0, KERNGRAD_LIST_ATTR, 0, 0, 0, 0, 0}};
  const kerngrad_schema schema = {sizeof schema, 2, operands, attrs, 6, 1, 0};
  const kerngrad_kernel kernel = {sizeof kernel, 0, "Options", 0, &schema, options, 0};
  host = given;
  if (given->struct_size < sizeof *given || given->abi_version != KERNGRAD_PACK_ABI)
    return given->refuse(self, "a table that is not the header's");
  host->register_kernel(self, &total_kernel);
  host->register_gradient(self, &total_rule);
  return host->register_kernel(self, &kernel);
}

KERNGRAD_PACK("complete", "2.1", init);
