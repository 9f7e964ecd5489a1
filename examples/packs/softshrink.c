/* SPDX-License-Identifier: Apache-2.0 */
#include <kerngrad/pack.h>

static const kerngrad_host* host;

/* Softshrink: what is beyond lambda, moved towards 0 by lambda; 0 between. */
static int softshrink(kerngrad_call* call, void* user) {
  const kerngrad_tensor* x = host->operand(call, "x", 0);
  const float* from = host->data(call, x);
  float* to = host->make_result(call, KERNGRAD_FLOAT32, host->rank(call, x), host->dims(call, x));
  double lambda;
  (void)user;
  if (host->get_number(call, "lambda", &lambda) != KERNGRAD_OK) return KERNGRAD_FAILED;
  for (int64_t i = 0, n = host->size(call, x); i < n; ++i)
    to[i] = from[i] > lambda ? from[i] - (float)lambda : from[i] < -lambda ? from[i] + (float)lambda : 0;
  return KERNGRAD_OK;
}

/* Its slope is 1 where something is left, 0 elsewhere: in ops, so that it can be differentiated again. */
static int softshrink_gradient(kerngrad_call* call, void* user) {
  const kerngrad_tensor *dy = host->dy(call, 0), *y = host->result(call, 0);
  const kerngrad_tensor* choice[3];
  kerngrad_argument arguments[3];
  (void)user;
  choice[0] = kerngrad_run2(host, call, "NotEqual", y, kerngrad_scalar(host, call, 0, y));
  choice[1] = dy;
  choice[2] = kerngrad_scalar(host, call, 0, y);
  for (int i = 0; i < 3; ++i) arguments[i] = (kerngrad_argument){sizeof(kerngrad_argument), 1, 0, &choice[i]};
  return host->set_gradient(call, "x", 0, host->run(call, "Select", arguments, 3, 0, 0));
}

static int init(const kerngrad_host* given, kerngrad_pack* self) {
  const kerngrad_operand x = {sizeof x, 0, "x", KERNGRAD_SET(KERNGRAD_FLOAT32), 0};
  const kerngrad_attr lambda = {.struct_size = sizeof lambda,
                                .flags = KERNGRAD_BOUNDED,
                                .name = "lambda",
                                .doc = "half the width of what becomes 0",
                                .kind = KERNGRAD_NUMBER_ATTR,
                                .fallback = 0.5,
                                .least = 0,
                                .most = 1e30};
  const kerngrad_schema schema = {.struct_size = sizeof schema,
                                  .operand_count = 1,
                                  .operands = &x,
                                  .attrs = &lambda,
                                  .attr_count = 1,
                                  .result_count = 1,
                                  .doc = "What is beyond lambda, moved towards 0 by it."};
  const kerngrad_kernel kernel = {
      .struct_size = sizeof kernel, .name = "Softshrink", .schema = &schema, .run = softshrink};
  const kerngrad_gradient gradient = {.struct_size = sizeof gradient,
                                      .flags = KERNGRAD_SAVES_RESULTS,
                                      .name = "Softshrink",
                                      .run = softshrink_gradient};
  host = given;
  host->register_kernel(self, &kernel);
  return host->register_gradient(self, &gradient);
}

KERNGRAD_PACK("softshrink", "1.0", init);
