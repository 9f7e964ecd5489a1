// SPDX-License-Identifier: Apache-2.0
// Recurrent layers. One product serves the inputs of all steps, and each step has one with the state. Steps write into
// arrays of the whole sequence. The layer is one call on the tape: its rule walks back over the gates that the forward
// pass kept. A rule that is recorded, for a higher order, differentiates the definition step by step instead.
module;
#include <algorithm>
#include <span>
#include <string>
#include <type_traits>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/scratch.h"
#include "kernels/common/sizes.h"
#include "kernels/matmul/matmul.h"
module kerngrad;

import :composed_checks;
import :live;
import :tape;

namespace kerngrad {

using detail::composed;
using detail::shaped;

namespace {

using tensors = std::vector<tensor>;

// ------------------------------------------------------------------------------------------ parts of both layers

// Indices of the operands of a layer. Undefined ones are missing.
enum operand_index : std::size_t { at_x, at_kernel, at_recurrent, at_h, at_bias, at_other };
using operands = std::span<const tensor>;

struct layer_sizes {
  std::int64_t steps, batch, in, units;
};

// x kernel + bias of all steps: [steps, batch, columns].
tensor projected(operands in, const layer_sizes& n) {
  const tensor rows = reshape(in[at_x], {n.steps * n.batch, n.in});
  tensor z =
      in[at_bias].defined() ? fused_matmul(rows, in[at_kernel], {.bias = in[at_bias]}) : matmul(rows, in[at_kernel]);
  return reshape(z, {n.steps, n.batch, in[at_kernel].dims()[1]});
}

tensor joined(const tensors& steps) { return stack(std::span<const tensor>(steps)); }

// The states before each step, [steps * batch, units].
tensor states_before(const tensor& first, const tensor& y, const layer_sizes& n) {
  const tensor later = slice(y, {0, 0, 0}, {n.steps - 1, n.batch, n.units});
  return reshape(concat({expand_dims(first, 0), later}, 0), {n.steps * n.batch, n.units});
}

// Gradients of x, its kernel and its bias from that of the projection [steps * batch, columns].
void add_projection_gradients(operands in, const tensor& dp, const layer_sizes& n, const std::vector<bool>& wanted,
                              tensors& grads) {
  const tensor rows = reshape(in[at_x], {n.steps * n.batch, n.in});
  if (wanted[at_x]) grads[at_x] = reshape(matmul(dp, in[at_kernel], false, true), in[at_x].dims());
  if (wanted[at_kernel]) grads[at_kernel] = matmul(rows, dp, true, false);
  if (in[at_bias].defined() && wanted[at_bias]) grads[at_bias] = sum(dp, 0);
}

// An array that steps fill one after the other: `length` elements each.
template <class T>
struct step_array {
  std::int64_t length;
  T* data = nullptr;
  tensor all;
  step_array(const layer_sizes& n, std::int64_t columns)
      : length(n.batch * columns),
        all(tensor::build<T>({n.steps, n.batch, columns}, [this](std::span<T> elements) { data = elements.data(); })) {}
  T* at(std::int64_t step) { return data + step * length; }
};
template <class T>
const T* step_of(const tensor& all, std::int64_t step) {
  return all.data<T>().data() + step * (all.size() / all.dims()[0]);
}

template <class T>
tensor matrix_of(const T* from, std::int64_t rows, std::int64_t columns) {
  return tensor::build<T>({rows, columns}, [&](std::span<T> to) { std::copy_n(from, to.size(), to.data()); });
}
template <class T>
T* copied(const tensor& x, T* to) {
  std::ranges::copy(x.data<T>(), to);
  return to;
}

// Kernels are called on parts of arrays. Other backends and hooks get these parts as tensors: results have the bits of
// the kernels where the backend is the SIMD one.

// c = a b for a [batch, inner] and b [inner, columns].
template <class T>
void multiply(const T* a, const T* b, T* c, std::int64_t batch, std::int64_t inner, std::int64_t columns) {
  if (!detail::on_simd()) {
    copied(matmul(matrix_of(a, batch, inner), matrix_of(b, inner, columns)), c);
    return;
  }
  kernels::matmul_geometry g{};
  g.m = batch, g.n = columns, g.k = inner;
  const void* in[] = {a, b};
  void* out[] = {c};
  if constexpr (std::is_same_v<T, float>) kernels::BatchMatMul_float32(in, out, &g);
  else kernels::BatchMatMul_float64(in, out, &g);
}

template <class T>
void apply_sigmoid(T* x, std::int64_t count) {
  if (!detail::on_simd()) {
    copied(sigmoid(matrix_of(x, 1, count)), x);
    return;
  }
  const std::span<T> all(x, static_cast<std::size_t>(count));
  kernel<"Sigmoid">(std::span<const T>(all), all);
}
template <class T>
void apply_tanh(T* x, std::int64_t count) {
  if (!detail::on_simd()) {
    copied(tanh(matrix_of(x, 1, count)), x);
    return;
  }
  const std::span<T> all(x, static_cast<std::size_t>(count));
  kernel<"Tanh">(std::span<const T>(all), all);
}

template <class T>
tensor state_of(const T* from, const layer_sizes& n) {
  return matrix_of(from, n.batch, n.units);
}

// A layer of either kind, without and with its own gradient.
struct layer {
  std::string_view name;
  // The definition, step by step: outputs and last states.
  tensors (*define)(operands in, const layer_sizes& n);
  // The same values, and what the backward pass needs.
  tensors (*forward)(operands in, const layer_sizes& n, tensors& kept);
  // Gradients of the operands.
  tensors (*backward)(operands in, const layer_sizes& n, const tensor& y, std::span<const tensor> kept,
                      std::span<const tensor> dys, const std::vector<bool>& wanted);
};

// Gradients of the definition, recorded for the orders above.
tensors defined_gradients(const layer& of, const tensors& in, const layer_sizes& n, std::span<const tensor> dys) {
  tensors given;
  for (const tensor& x : in)
    if (x.defined()) given.push_back(x);
  const auto weighted = [&](std::span<const tensor> leaves) {
    tensors all = in;
    std::size_t next = 0;
    for (tensor& x : all)
      if (x.defined()) x = leaves[next++];
    const tensors values = of.define(all, n);
    tensor total = sum(values[0] * dys[0]);
    for (std::size_t k = 1; k < values.size(); ++k) total = total + sum(values[k] * dys[k]);
    return total;
  };
  const value_and_gradient_list found = value_and_grads_of(weighted, given);
  tensors grads(in.size());
  for (std::size_t i = 0, next = 0; i < in.size(); ++i)
    if (in[i].defined()) grads[i] = found.grads[next++];
  return grads;
}

tensors run_layer(const layer& of, tensors in, const layer_sizes& n) {
  tensors kept, values;
  {
    const detail::unrecorded pause;
    values = of.forward(in, n, kept);
  }
  std::vector<const tensor*> given;
  for (const tensor& x : in) given.push_back(&x);
  if (!detail::recording_now()) {
    detail::lose(given, values);
    return values;
  }
  // The rule has outputs without history, so that the recorded call does not keep itself.
  auto rule = [&of, in, n, y = values[0], kept = std::move(kept)](std::span<const tensor> dys,
                                                                  const std::vector<bool>& wanted) {
    return detail::recording_now() ? defined_gradients(of, in, n, dys) : of.backward(in, n, y, kept, dys, wanted);
  };
  detail::record_free(of.name, given, values, std::move(rule));
  return values;
}

// ------------------------------------------------------------------------------------------ LSTM

tensors define_lstm(operands in, const layer_sizes& n) {
  const tensor_list inputs = unstack(projected(in, n), 0);
  tensor h = in[at_h], c = in[at_other];
  tensors y;
  for (std::int64_t t = 0; t < n.steps; ++t) {
    const auto [i, f, g, o] = split<4>(inputs[static_cast<int>(t)] + matmul(h, in[at_recurrent]), 1);
    c = sigmoid(f) * c + sigmoid(i) * tanh(g);
    h = sigmoid(o) * tanh(c);
    y.push_back(h);
  }
  return {joined(y), h, c};
}

// Arrays that the forward pass keeps.
enum kept_by_lstm : std::size_t { kept_gates, kept_memory, kept_tanh };

template <class T>
tensors lstm_steps(operands in, const layer_sizes& n, tensors& kept) {
  const tensor inputs = projected(in, n);
  step_array<T> gates(n, 4 * n.units), memory(n, n.units), bent(n, n.units), y(n, n.units);
  const T *h = in[at_h].data<T>().data(), *c = in[at_other].data<T>().data();
  const T* const recurrent = in[at_recurrent].data<T>().data();
  const std::int64_t units = n.units;
  for (std::int64_t t = 0; t < n.steps; ++t) {
    T *const z = gates.at(t), *const next = memory.at(t), *const curve = bent.at(t), *const out = y.at(t);
    const T* const input = step_of<T>(inputs, t);
    multiply(h, recurrent, z, n.batch, units, 4 * units);
    for (std::int64_t i = 0; i < gates.length; ++i) z[i] += input[i];
    for (std::int64_t row = 0; row < n.batch; ++row) {
      T *const i = z + row * 4 * units, *const f = i + units, *const g = f + units, *const to = next + row * units;
      apply_sigmoid(i, 2 * units);
      apply_tanh(g, units);
      apply_sigmoid(g + units, units);
      for (std::int64_t k = 0; k < units; ++k) to[k] = f[k] * c[row * units + k] + i[k] * g[k];
    }
    std::copy_n(next, memory.length, curve);
    apply_tanh(curve, bent.length);
    for (std::int64_t row = 0; row < n.batch; ++row) {
      const T* const o = z + (row * 4 + 3) * units;
      for (std::int64_t k = row * units; k < (row + 1) * units; ++k) out[k] = o[k - row * units] * curve[k];
    }
    h = out, c = next;
  }
  kept = {gates.all, memory.all, bent.all};
  return {y.all, state_of(h, n), state_of(c, n)};
}

tensors run_lstm(operands in, const layer_sizes& n, tensors& kept) {
  return in[at_x].type() == dtype::float64 ? lstm_steps<double>(in, n, kept) : lstm_steps<float>(in, n, kept);
}

// Gradients of one row at a step: of its gates, z, from those of the output and the memory. The one of the memory
// becomes that of the memory before.
template <class T>
struct lstm_row {
  const T *gates, *memory_before, *bent;
  void walk_back(std::int64_t units, const T* dh, T* dc, T* dz) const {
    const T *const i = gates, *const f = i + units, *const g = f + units, *const o = g + units;
    T *const di = dz, *const df = di + units, *const dg = df + units, *const d_o = dg + units;
    for (std::int64_t k = 0; k < units; ++k) {
      const T d = dc[k] + dh[k] * o[k] * (1 - bent[k] * bent[k]);
      di[k] = d * g[k] * (i[k] * (1 - i[k]));
      df[k] = d * memory_before[k] * (f[k] * (1 - f[k]));
      dg[k] = d * i[k] * (1 - g[k] * g[k]);
      d_o[k] = dh[k] * bent[k] * (o[k] * (1 - o[k]));
      dc[k] = d * f[k];
    }
  }
};

template <class T>
tensors lstm_walk_back(operands in, const layer_sizes& n, const tensor& y, std::span<const tensor> kept,
                       std::span<const tensor> dys, const std::vector<bool>& wanted) {
  const tensor back = transpose(in[at_recurrent]);
  const std::int64_t units = n.units, length = n.batch * units;
  kernels::scratch<T> state(length), memory(length);
  T *const dh = copied(dys[1], state.data()), *const dc = copied(dys[2], memory.data());
  step_array<T> dz(n, 4 * units);
  for (std::int64_t t = n.steps; t-- > 0;) {
    const T* const dy = step_of<T>(dys[0], t);
    for (std::int64_t k = 0; k < length; ++k) dh[k] += dy[k];
    const T* const before = t == 0 ? in[at_other].data<T>().data() : step_of<T>(kept[kept_memory], t - 1);
    const T *const gates = step_of<T>(kept[kept_gates], t), *const bent = step_of<T>(kept[kept_tanh], t);
    for (std::int64_t row = 0; row < n.batch; ++row) {
      const std::int64_t at = row * units;
      lstm_row<T>{gates + 4 * at, before + at, bent + at}.walk_back(units, dh + at, dc + at, dz.at(t) + 4 * at);
    }
    multiply(dz.at(t), back.data<T>().data(), dh, n.batch, 4 * units, units);
  }
  const tensor all = reshape(dz.all, {n.steps * n.batch, 4 * units});
  tensors grads(in.size());
  add_projection_gradients(in, all, n, wanted, grads);
  if (wanted[at_recurrent]) grads[at_recurrent] = matmul(states_before(in[at_h], y, n), all, true, false);
  grads[at_h] = state_of(dh, n), grads[at_other] = state_of(dc, n);
  return grads;
}

tensors lstm_gradients(operands in, const layer_sizes& n, const tensor& y, std::span<const tensor> kept,
                       std::span<const tensor> dys, const std::vector<bool>& wanted) {
  return y.type() == dtype::float64 ? lstm_walk_back<double>(in, n, y, kept, dys, wanted)
                                    : lstm_walk_back<float>(in, n, y, kept, dys, wanted);
}

constexpr layer lstm_layer{"lstm", define_lstm, run_lstm, lstm_gradients};

// ------------------------------------------------------------------------------------------ GRU

tensor state_product(operands in, const tensor& h) {
  return in[at_other].defined() ? fused_matmul(h, in[at_recurrent], {.bias = in[at_other]})
                                : matmul(h, in[at_recurrent]);
}

tensors define_gru(operands in, const layer_sizes& n) {
  const tensor_list inputs = unstack(projected(in, n), 0);
  tensor h = in[at_h];
  tensors y;
  for (std::int64_t t = 0; t < n.steps; ++t) {
    const auto [pr, pz, pn] = split<3>(inputs[static_cast<int>(t)], 1);
    const auto [qr, qz, qn] = split<3>(state_product(in, h), 1);
    const tensor fresh = tanh(pn + sigmoid(pr + qr) * qn), z = sigmoid(pz + qz);
    h = fresh + z * (h - fresh);
    y.push_back(h);
  }
  return {joined(y), h};
}

enum kept_by_gru : std::size_t { kept_both, kept_product };

template <class T>
tensors gru_steps(operands in, const layer_sizes& n, tensors& kept) {
  const tensor inputs = projected(in, n);
  step_array<T> gates(n, 3 * n.units), products(n, n.units), y(n, n.units);
  const T *h = in[at_h].data<T>().data(), *const recurrent = in[at_recurrent].data<T>().data();
  const T* const bias = in[at_other].defined() ? in[at_other].data<T>().data() : nullptr;
  const std::int64_t units = n.units;
  kernels::scratch<T> room(gates.length);
  T* const all = room.data();
  for (std::int64_t t = 0; t < n.steps; ++t) {
    const T* const input = step_of<T>(inputs, t);
    multiply(h, recurrent, all, n.batch, units, 3 * units);
    for (std::int64_t row = 0; row < n.batch; ++row) {
      const T* const p = input + row * 3 * units;
      T *const q = all + row * 3 * units, *const r = gates.at(t) + row * 3 * units, *const z = r + units;
      T *const fresh = z + units, *const product = products.at(t) + row * units, *const out = y.at(t) + row * units;
      for (std::int64_t k = 0; bias && k < 3 * units; ++k) q[k] += bias[k];
      for (std::int64_t k = 0; k < 2 * units; ++k) r[k] = p[k] + q[k];
      apply_sigmoid(r, 2 * units);
      std::copy_n(q + 2 * units, units, product);
      for (std::int64_t k = 0; k < units; ++k) fresh[k] = p[2 * units + k] + r[k] * product[k];
      apply_tanh(fresh, units);
      for (std::int64_t k = 0; k < units; ++k) out[k] = fresh[k] + z[k] * (h[row * units + k] - fresh[k]);
    }
    h = y.at(t);
  }
  kept = {gates.all, products.all};
  return {y.all, state_of(h, n)};
}

tensors run_gru(operands in, const layer_sizes& n, tensors& kept) {
  return in[at_x].type() == dtype::float64 ? gru_steps<double>(in, n, kept) : gru_steps<float>(in, n, kept);
}

// Gradients of one row at a step: dp of the projected input and dq of the product with the state, from that of the
// output, which becomes its part that reaches the state before without a product.
template <class T>
struct gru_row {
  const T *gates, *product, *before;
  void walk_back(std::int64_t units, T* dh, T* dp, T* dq) const {
    const T *const r = gates, *const z = r + units, *const fresh = z + units;
    for (std::int64_t k = 0; k < units; ++k) {
      const T of_new = dh[k] * (1 - z[k]) * (1 - fresh[k] * fresh[k]);
      dp[k] = dq[k] = of_new * product[k] * (r[k] * (1 - r[k]));
      dp[units + k] = dq[units + k] = dh[k] * (before[k] - fresh[k]) * (z[k] * (1 - z[k]));
      dp[2 * units + k] = of_new;
      dq[2 * units + k] = of_new * r[k];
      dh[k] *= z[k];
    }
  }
};

template <class T>
tensors gru_walk_back(operands in, const layer_sizes& n, const tensor& y, std::span<const tensor> kept,
                      std::span<const tensor> dys, const std::vector<bool>& wanted) {
  const tensor back = transpose(in[at_recurrent]);
  const std::int64_t units = n.units, length = n.batch * units;
  kernels::scratch<T> state(length), room(length);
  T *const dh = copied(dys[1], state.data()), *const by_product = room.data();
  step_array<T> dp(n, 3 * units), dq(n, 3 * units);
  for (std::int64_t t = n.steps; t-- > 0;) {
    const T* const dy = step_of<T>(dys[0], t);
    for (std::int64_t k = 0; k < length; ++k) dh[k] += dy[k];
    const T* const before = t == 0 ? in[at_h].data<T>().data() : step_of<T>(y, t - 1);
    const T *const gates = step_of<T>(kept[kept_both], t), *const product = step_of<T>(kept[kept_product], t);
    for (std::int64_t row = 0; row < n.batch; ++row) {
      const std::int64_t at = row * units;
      gru_row<T>{gates + 3 * at, product + at, before + at}.walk_back(units, dh + at, dp.at(t) + 3 * at,
                                                                      dq.at(t) + 3 * at);
    }
    multiply(dq.at(t), back.data<T>().data(), by_product, n.batch, 3 * units, units);
    for (std::int64_t k = 0; k < length; ++k) dh[k] += by_product[k];
  }
  const shape rows{n.steps * n.batch, 3 * units};
  const tensor of_state = reshape(dq.all, rows);
  tensors grads(in.size());
  add_projection_gradients(in, reshape(dp.all, rows), n, wanted, grads);
  if (wanted[at_recurrent]) grads[at_recurrent] = matmul(states_before(in[at_h], y, n), of_state, true, false);
  if (in[at_other].defined() && wanted[at_other]) grads[at_other] = sum(of_state, 0);
  grads[at_h] = state_of(dh, n);
  return grads;
}

tensors gru_gradients(operands in, const layer_sizes& n, const tensor& y, std::span<const tensor> kept,
                      std::span<const tensor> dys, const std::vector<bool>& wanted) {
  return y.type() == dtype::float64 ? gru_walk_back<double>(in, n, y, kept, dys, wanted)
                                    : gru_walk_back<float>(in, n, y, kept, dys, wanted);
}

constexpr layer gru_layer{"gru", define_gru, run_gru, gru_gradients};

// ------------------------------------------------------------------------------------------ checks

layer_sizes checked(const composed& call, const tensor& x, const tensor& kernel, const tensor& recurrent,
                    std::int64_t gates, bool batch_first) {
  call.rank("x", x, 3, 3);
  call.rank("kernel", kernel, 2, 2);
  call.rank("recurrent", recurrent, 2, 2);
  call.floating("x", x);
  call.floating("kernel", kernel);
  call.floating("recurrent", recurrent);
  const std::int64_t in = x.dims()[2], units = recurrent.dims()[0], wide = kernels::product_of(gates, units);
  if (recurrent.dims()[1] != wide)
    call.refuse(shaped("recurrent", recurrent), "[units, " + std::to_string(gates) + " * units]");
  if (kernel.dims()[0] != in || kernel.dims()[1] != wide)
    call.refuse(shaped("kernel", kernel) + " and " + shaped("x", x),
                "a kernel [" + std::to_string(in) + ", " + std::to_string(wide) + "]");
  return {x.dims()[batch_first ? 1 : 0], x.dims()[batch_first ? 0 : 1], in, units};
}

void check_optional(const composed& call, std::string_view name, const tensor& x, const shape& wanted) {
  if (!x.defined()) return;
  call.floating(name, x);
  if (!(x.dims() == wanted)) call.refuse(shaped(name, x), to_string(wanted));
}

// Steps in the order in which the layer goes.
tensor in_order(const tensor& x, bool batch_first, bool reversed) {
  const tensor steps = batch_first ? transpose(x, {1, 0, 2}) : x;
  return reversed ? reverse(steps, 0) : steps;
}
tensor out_of_order(const tensor& y, bool batch_first, bool reversed) {
  const tensor steps = reversed ? reverse(y, 0) : y;
  return batch_first ? transpose(steps, {1, 0, 2}) : steps;
}

// All operands in one dtype, half precision in float32.
tensors in_one_dtype(const tensors& in, dtype type) {
  const dtype wide = floating.has(type) && !wide_floats.has(type) ? dtype::float32 : type;
  tensors all;
  for (const tensor& x : in) all.push_back(x.defined() ? cast(x, wide) : x);
  return all;
}

}  // namespace

lstm_result lstm(const tensor& x, const tensor& kernel, const tensor& recurrent, const lstm_options& options) {
  constexpr composed call{"lstm"};
  const layer_sizes n = checked(call, x, kernel, recurrent, 4, options.batch_first);
  const shape state{n.batch, n.units};
  check_optional(call, "bias", options.bias, {4 * n.units});
  check_optional(call, "h", options.h, state);
  check_optional(call, "c", options.c, state);
  const dtype type = detail::promoted({&x, &kernel, &recurrent, &options.bias, &options.h, &options.c});
  const auto started = [&](const tensor& first) { return first.defined() ? first : zeros(state, type); };
  const tensors in = in_one_dtype({in_order(x, options.batch_first, options.reverse), kernel, recurrent,
                                   started(options.h), options.bias, started(options.c)},
                                  type);
  const auto given = [&](const tensor& y) { return detail::narrowed(y, type); };
  if (n.steps == 0)
    return {out_of_order(zeros({0, n.batch, n.units}, type), options.batch_first, false), given(in[at_h]),
            given(in[at_other])};
  const tensors values = run_layer(lstm_layer, in, n);
  return {given(out_of_order(values[0], options.batch_first, options.reverse)), given(values[1]), given(values[2])};
}

gru_result gru(const tensor& x, const tensor& kernel, const tensor& recurrent, const gru_options& options) {
  constexpr composed call{"gru"};
  const layer_sizes n = checked(call, x, kernel, recurrent, 3, options.batch_first);
  const shape state{n.batch, n.units};
  check_optional(call, "bias", options.bias, {3 * n.units});
  check_optional(call, "recurrent_bias", options.recurrent_bias, {3 * n.units});
  check_optional(call, "h", options.h, state);
  const dtype type = detail::promoted({&x, &kernel, &recurrent, &options.bias, &options.recurrent_bias, &options.h});
  const tensors in =
      in_one_dtype({in_order(x, options.batch_first, options.reverse), kernel, recurrent,
                    options.h.defined() ? options.h : zeros(state, type), options.bias, options.recurrent_bias},
                   type);
  const auto given = [&](const tensor& y) { return detail::narrowed(y, type); };
  if (n.steps == 0)
    return {out_of_order(zeros({0, n.batch, n.units}, type), options.batch_first, false), given(in[at_h])};
  const tensors values = run_layer(gru_layer, in, n);
  return {given(out_of_order(values[0], options.batch_first, options.reverse)), given(values[1])};
}

}  // namespace kerngrad
