/* SPDX-License-Identifier: Apache-2.0
 * A pack whose kernel and gradient break a rule when they run: the attribute `how` says which. */
#include <kerngrad/pack.h>
#include <string.h>

static const kerngrad_host* host;

static const char* how_of(kerngrad_call* call) {
  const char* how = "";
  host->get_text(call, "how", &how);
  return how;
}

static int ones_like(kerngrad_call* call, const kerngrad_tensor* x) {
  float* y = host->make_result(call, KERNGRAD_FLOAT32, host->rank(call, x), host->dims(call, x));
  if (!y) return KERNGRAD_FAILED;
  for (int64_t i = 0, n = host->size(call, x); i < n; ++i) y[i] = 1;
  return KERNGRAD_OK;
}

#define CASE(text) if (strcmp(how, text) == 0)

static int kernel(kerngrad_call* call, void* user) {
  const char* how = how_of(call);
  const kerngrad_tensor* x = host->operand(call, "x", 0);
  const int64_t negative = -1, huge = INT64_MAX, large[8] = {1 << 20, 1 << 20, 1 << 20}, two = 2, nine[9] = {1};
  const kerngrad_value alpha = {sizeof alpha, 99, "alpha", 0, 0, 0, 0, 0, 0};
  kerngrad_argument argument = {sizeof argument, 1, "x", &x};
  double number;
  const char* text;
  CASE("code") return 7;
  CASE("negative code") return -2147483647 - 1;
  CASE("text") return host->fail(call, "the weather is bad");
  CASE("text and success") return host->fail(call, "not serious") * 0;
  CASE("no text") return host->fail(call, 0);
  CASE("no result") return KERNGRAD_OK;
  CASE("two results") {
    ones_like(call, x);
    ones_like(call, x);
    return KERNGRAD_OK;
  }
  CASE("other operand") host->operand(call, "z", 0);
  CASE("operand -1") host->operand(call, "x", -1);
  CASE("operand 1") host->operand(call, "x", 1);
  CASE("null name") host->operand(call, 0, 0);
  CASE("null tensor") host->data(call, 0);
  CASE("foreign tensor") host->data(call, (const kerngrad_tensor*)user);
  CASE("negative size") host->make_result(call, KERNGRAD_FLOAT32, 1, &negative);
  CASE("huge size") host->make_result(call, KERNGRAD_FLOAT32, 1, &huge);
  CASE("large sizes") host->make_result(call, KERNGRAD_FLOAT32, 3, large);
  CASE("rank 9") host->make_result(call, KERNGRAD_FLOAT32, 9, nine);
  CASE("rank -1") host->make_result(call, KERNGRAD_FLOAT32, -1, nine);
  CASE("null sizes") host->make_result(call, KERNGRAD_FLOAT32, 1, 0);
  CASE("dtype 99") host->make_result(call, 99, 1, &two);
  CASE("other attribute") host->get_number(call, "rate", &number);
  CASE("attribute of another kind") host->get_number(call, "how", &number);
  CASE("null value") host->get_text(call, "how", 0);
  CASE("null attribute") host->get_text(call, 0, &text);
  CASE("unknown op") kerngrad_run1(host, call, "NoSuchOp", x);
  CASE("wrong shapes") kerngrad_run2(host, call, "BatchMatMul", x, x);
  CASE("many arguments") host->run(call, "Exp", &argument, 2147483647, 0, 0);
  CASE("negative arguments") host->run(call, "Exp", &argument, -1, 0, 0);
  CASE("null arguments") host->run(call, "Exp", 0, 1, 0, 0);
  CASE("small argument") {
    argument.struct_size = 4;
    host->run(call, "Exp", &argument, 1, 0, 0);
  }
  CASE("unknown kind") host->run(call, "LeakyRelu", &argument, 1, &alpha, 1);
  CASE("several results of an op") kerngrad_run1(host, call, "Complete", x);
  CASE("dy in a kernel") host->dy(call, 0);
  CASE("gradient in a kernel") host->set_gradient(call, "x", 0, x);
  CASE("null elements") host->make_tensor(call, KERNGRAD_FLOAT32, 1, &two, 0);
  CASE("exp") return host->give_result(call, kerngrad_run1(host, call, "Exp", x));
  ones_like(call, x);
  return KERNGRAD_OK; /* what failed counts all the same */
}

static int gradient(kerngrad_call* call, void* user) {
  const char* how = how_of(call);
  const kerngrad_tensor* dy = host->dy(call, 0);
  (void)user;
  CASE("gradient: text") return host->fail(call, "no slope here");
  CASE("gradient: other shape") return host->set_gradient(call, "x", 0, kerngrad_scalar(host, call, 1, dy));
  CASE("gradient: other operand") return host->set_gradient(call, "z", 0, dy);
  CASE("gradient: not saved") host->operand(call, "x", 0);
  CASE("gradient: result not saved") host->result(call, 0);
  CASE("gradient: dy 1") host->dy(call, 1);
  CASE("gradient: result") host->make_result(call, KERNGRAD_FLOAT32, 0, 0);
  CASE("gradient: twice") host->set_gradient(call, "x", 0, dy);
  return host->set_gradient(call, "x", 0, dy);
}

static int identity(kerngrad_call* call, void* user) {
  (void)user;
  return host->give_result(call, host->operand(call, "x", 0));
}
static int scalar(kerngrad_call* call, void* user) {
  (void)user;
  *(float*)host->make_result(call, KERNGRAD_FLOAT32, 0, 0) = 1;
  return KERNGRAD_OK;
}

static int init(const kerngrad_host* given, kerngrad_pack* self) {
  static int not_a_tensor;
  const kerngrad_operand x = {sizeof x, 0, "x", KERNGRAD_SET(KERNGRAD_FLOAT32), 0};
  const kerngrad_attr how = {
      .struct_size = sizeof how, .flags = KERNGRAD_REQUIRED, .name = "how", .kind = KERNGRAD_TEXT_ATTR};
  const kerngrad_schema schema = {sizeof schema, 1, &x, &how, 1, 1, 0};
  const kerngrad_kernel main_kernel = {sizeof main_kernel, 0, "Misbehaving", 0, &schema, kernel, &not_a_tensor};
  const kerngrad_gradient rule = {sizeof rule, 0, "Misbehaving", 0, 0, 0, gradient, 0};
  const kerngrad_kernel known = {sizeof known, 0, "Abs", "packed", 0, identity, 0};
  const kerngrad_kernel wrong = {sizeof wrong, 0, "Neg", "packed", 0, scalar, 0};
  host = given;
  host->register_kernel(self, &main_kernel);
  host->register_kernel(self, &known);
  host->register_kernel(self, &wrong);
  return host->register_gradient(self, &rule);
}

KERNGRAD_PACK("misbehaving", 0, init);
