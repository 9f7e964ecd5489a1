// SPDX-License-Identifier: Apache-2.0
// Recurrent layers. One product serves the inputs of all steps, and each step has one with the state. The layer is one
// node of the tape: its rule walks back over the gates that the forward pass kept. A rule that is recorded, for a
// higher order, differentiates the definition step by step instead.
module;
#include <string>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/sizes.h"
module kerngrad;

import :composed_checks;
import :tape;

namespace kerngrad {

using detail::composed;
using detail::shaped;

namespace {

using tensors = std::vector<tensor>;

// ------------------------------------------------------------------------------------------ parts of both layers

// Operands of a layer by their places. Undefined ones are missing.
enum operand_place : std::size_t { at_x, at_kernel, at_recurrent, at_h, at_bias, at_other };
using operands = std::span<const tensor>;

struct layer_sizes {
  std::int64_t steps, batch, in, units;
};

tensor columns(const tensor& z, std::int64_t part, std::int64_t units, std::int64_t parts = 1) {
  return slice(z, {0, part * units}, {z.dims()[0], parts * units});
}

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
  // The rule has outputs without history, so that the node does not keep itself.
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

constexpr auto sigmoid_of_sum = fuse([](auto a, auto b) { return kerngrad::sigmoid(a + b); });
constexpr auto tanh_of_sum = fuse([](auto a, auto b) { return kerngrad::tanh(a + b); });
constexpr auto sum_of_products = fuse([](auto a, auto b, auto c, auto d) { return a * b + c * d; });
constexpr auto product_of_derivative_of_sigmoid = fuse([](auto d, auto v, auto s) { return d * v * (s * (1 - s)); });
constexpr auto product_of_derivative_of_tanh = fuse([](auto d, auto v, auto t) { return d * v * (1 - t * t); });
constexpr auto sum_with_derivative_of_tanh =
    fuse([](auto a, auto d, auto v, auto t) { return a + d * v * (1 - t * t); });

// Lists of steps that the forward pass keeps.
enum kept_by_lstm : std::size_t { kept_gates, kept_new, kept_memory, kept_tanh, lists_by_lstm };

tensors run_lstm(operands in, const layer_sizes& n, tensors& kept) {
  const tensor_list inputs = unstack(projected(in, n), 0);
  tensor h = in[at_h], c = in[at_other];
  tensors y, lists[lists_by_lstm];
  for (std::int64_t t = 0; t < n.steps; ++t) {
    const tensor &input = inputs[static_cast<int>(t)], state = matmul(h, in[at_recurrent]);
    const tensor gates = sigmoid_of_sum(input, state);
    const tensor fresh = tanh_of_sum(columns(input, 2, n.units), columns(state, 2, n.units));
    lists[kept_memory].push_back(c);
    c = sum_of_products(columns(gates, 1, n.units), c, columns(gates, 0, n.units), fresh);
    const tensor bent = tanh(c);
    h = columns(gates, 3, n.units) * bent;
    y.push_back(h);
    lists[kept_gates].push_back(gates), lists[kept_new].push_back(fresh), lists[kept_tanh].push_back(bent);
  }
  for (const tensors& list : lists) kept.insert(kept.end(), list.begin(), list.end());
  return {joined(y), h, c};
}

tensors lstm_gradients(operands in, const layer_sizes& n, const tensor& y, std::span<const tensor> kept,
                       std::span<const tensor> dys, const std::vector<bool>& wanted) {
  const std::size_t steps = static_cast<std::size_t>(n.steps);
  const tensor_list dy = unstack(dys[0], 0);
  const tensor back = transpose(in[at_recurrent]);
  tensor dh = dys[1], dc = dys[2];
  tensors dz(steps);
  for (std::size_t t = steps; t-- > 0;) {
    const auto list = [&](std::size_t which) -> const tensor& { return kept[which * steps + t]; };
    const tensor &gates = list(kept_gates), &fresh = list(kept_new), &bent = list(kept_tanh);
    const tensor i = columns(gates, 0, n.units), f = columns(gates, 1, n.units), o = columns(gates, 3, n.units);
    dh = dh + dy[static_cast<int>(t)];
    dc = sum_with_derivative_of_tanh(dc, dh, o, bent);
    dz[t] = concat(
        {product_of_derivative_of_sigmoid(dc, fresh, i), product_of_derivative_of_sigmoid(dc, list(kept_memory), f),
         product_of_derivative_of_tanh(dc, i, fresh), product_of_derivative_of_sigmoid(dh, bent, o)},
        1);
    dc = dc * f;
    dh = matmul(dz[t], back);
  }
  const tensor all = reshape(joined(dz), {n.steps * n.batch, 4 * n.units});
  dz.clear();
  tensors grads(in.size());
  add_projection_gradients(in, all, n, wanted, grads);
  if (wanted[at_recurrent]) grads[at_recurrent] = matmul(states_before(in[at_h], y, n), all, true, false);
  grads[at_h] = dh, grads[at_other] = dc;
  return grads;
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

constexpr auto tanh_of_product = fuse([](auto p, auto r, auto q) { return kerngrad::tanh(p + r * q); });
constexpr auto between = fuse([](auto a, auto z, auto b) { return a + z * (b - a); });
constexpr auto gradient_of_new = fuse([](auto d, auto z, auto n) { return d * (1 - z) * (1 - n * n); });
constexpr auto gradient_of_update = fuse([](auto d, auto h, auto n, auto z) { return d * (h - n) * (z * (1 - z)); });

enum kept_by_gru : std::size_t { kept_both, kept_fresh, kept_product, kept_state, lists_by_gru };

tensors run_gru(operands in, const layer_sizes& n, tensors& kept) {
  const tensor_list inputs = unstack(projected(in, n), 0);
  tensor h = in[at_h];
  tensors y, lists[lists_by_gru];
  for (std::int64_t t = 0; t < n.steps; ++t) {
    const tensor &p = inputs[static_cast<int>(t)], q = state_product(in, h), product = columns(q, 2, n.units);
    const tensor both = sigmoid_of_sum(columns(p, 0, n.units, 2), columns(q, 0, n.units, 2));
    const tensor fresh = tanh_of_product(columns(p, 2, n.units), columns(both, 0, n.units), product);
    lists[kept_state].push_back(h);
    h = between(fresh, columns(both, 1, n.units), h);
    y.push_back(h);
    lists[kept_both].push_back(both), lists[kept_fresh].push_back(fresh), lists[kept_product].push_back(product);
  }
  for (const tensors& list : lists) kept.insert(kept.end(), list.begin(), list.end());
  return {joined(y), h};
}

tensors gru_gradients(operands in, const layer_sizes& n, const tensor& y, std::span<const tensor> kept,
                      std::span<const tensor> dys, const std::vector<bool>& wanted) {
  const std::size_t steps = static_cast<std::size_t>(n.steps);
  const tensor_list dy = unstack(dys[0], 0);
  const tensor back = transpose(in[at_recurrent]);
  tensor dh = dys[1];
  tensors dp(steps), dq(steps);
  for (std::size_t t = steps; t-- > 0;) {
    const auto list = [&](std::size_t which) -> const tensor& { return kept[which * steps + t]; };
    const tensor r = columns(list(kept_both), 0, n.units), z = columns(list(kept_both), 1, n.units);
    const tensor &fresh = list(kept_fresh), &before = list(kept_state);
    dh = dh + dy[static_cast<int>(t)];
    const tensor of_new = gradient_of_new(dh, z, fresh), of_update = gradient_of_update(dh, before, fresh, z);
    const tensor of_reset = product_of_derivative_of_sigmoid(of_new, list(kept_product), r);
    dp[t] = concat({of_reset, of_update, of_new}, 1);
    dq[t] = concat({of_reset, of_update, of_new * r}, 1);
    dh = matmul(dq[t], back) + dh * z;
  }
  const shape rows{n.steps * n.batch, 3 * n.units};
  const tensor of_state = reshape(joined(dq), rows);
  tensors grads(in.size());
  add_projection_gradients(in, reshape(joined(dp), rows), n, wanted, grads);
  if (wanted[at_recurrent]) grads[at_recurrent] = matmul(states_before(in[at_h], y, n), of_state, true, false);
  if (in[at_other].defined() && wanted[at_other]) grads[at_other] = sum(of_state, 0);
  grads[at_h] = dh;
  return grads;
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
