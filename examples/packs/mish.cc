// SPDX-License-Identifier: Apache-2.0
#include <kerngrad/pack.h>

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace {

const kerngrad_host* host;

// Mish: x * tanh(softplus(x)) (Misra 2019), for both floating dtypes.
template <class T>
void mish_elements(const T* from, T* to, std::size_t n) {
  // tanh(log(1 + e^x)) = (a^2 - 1) / (a^2 + 1) with a = 1 + e^x; above 20 that is 1.
  for (std::size_t i = 0; i < n; ++i) {
    const double x = from[i], e = std::exp(x), t = x > 20 ? 1 : e * (e + 2) / (e * (e + 2) + 2);
    to[i] = static_cast<T>(x * t);
  }
}

int mish(kerngrad_call* call, void*) {
  const kerngrad_tensor* x = host->operand(call, "x", 0);
  const void* from = host->data(call, x);
  const std::int32_t dtype = host->dtype(call, x);
  void* to = host->make_result(call, dtype, host->rank(call, x), host->dims(call, x));
  if (!to) return KERNGRAD_FAILED;
  const auto n = static_cast<std::size_t>(host->size(call, x));
  if (dtype == KERNGRAD_FLOAT64) mish_elements(static_cast<const double*>(from), static_cast<double*>(to), n);
  else mish_elements(static_cast<const float*>(from), static_cast<float*>(to), n);
  return KERNGRAD_OK;
}

// An op of a gradient, so that the rule below reads like the formula.
struct value {
  kerngrad_call* call;
  const kerngrad_tensor* x;
  friend value operator*(value a, value b) { return {a.call, kerngrad_run2(host, a.call, "Multiply", a.x, b.x)}; }
  friend value operator+(value a, value b) { return {a.call, kerngrad_run2(host, a.call, "Add", a.x, b.x)}; }
  friend value operator-(value a, value b) { return {a.call, kerngrad_run2(host, a.call, "Sub", a.x, b.x)}; }
  value op(const char* name) const { return {call, kerngrad_run1(host, call, name, x)}; }
};

// With t = tanh(softplus(x)): dy * (t + x * sigmoid(x) * (1 - t^2)).
int mish_gradient(kerngrad_call* call, void*) {
  const value x{call, host->operand(call, "x", 0)}, dy{call, host->dy(call, 0)};
  const value t = x.op("Softplus").op("Tanh"), one{call, kerngrad_scalar(host, call, 1, x.x)};
  return host->set_gradient(call, "x", 0, (dy * (t + x * x.op("Sigmoid") * (one - t * t))).x);
}

int init(const kerngrad_host* given, kerngrad_pack* self) {
  host = given;
  const kerngrad_operand x{sizeof x, 0, "x", KERNGRAD_SET(KERNGRAD_FLOAT32) | KERNGRAD_SET(KERNGRAD_FLOAT64), 0};
  const kerngrad_schema schema{sizeof schema, 1, &x, nullptr, 0, 1, "x * tanh(softplus(x))."};
  const kerngrad_kernel kernel{sizeof kernel, 0, "Mish", nullptr, &schema, mish, nullptr};
  const char* const saved = "x";
  const kerngrad_gradient gradient{sizeof gradient, 0, "Mish", &saved, 1, 0, mish_gradient, nullptr};
  host->register_kernel(self, &kernel);
  return host->register_gradient(self, &gradient);
}

}  // namespace

KERNGRAD_PACK("mish", "1.0", init);
