// SPDX-License-Identifier: Apache-2.0
// Matrices of derivatives: one run of the function, then a walk over its recording for each row, or over the recording
// of its gradient for each column.
module;
#include <algorithm>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

import :scopes;
import :tape;
import :walk;

namespace kerngrad::detail {

namespace {

void check_jacobian_operands(std::string_view name, std::span<const tensor> xs) {
  for (const tensor& x : xs) {
    if (!x.defined()) fail(name, "an undefined tensor", "tensors", "check it with defined()");
    if (!floating.has(x.type()))
      fail(name, "an operand of dtype " + std::string(name_of(x.type())), "one of " + to_string(floating),
           "cast it, or let the function capture it");
  }
}

// The shape of a block, checked against the largest rank.
shape block_dims(std::string_view name, const tensor& y, const tensor& x) {
  if (y.rank() + x.rank() > max_rank)
    fail(name, "a result of shape " + to_string(y.dims()) + " and an operand of shape " + to_string(x.dims()),
         "at most " + std::to_string(max_rank) + " axes together", "flatten one of them");
  std::vector<std::int64_t> dims(y.dims().begin(), y.dims().end());
  dims.insert(dims.end(), x.dims().begin(), x.dims().end());
  return shape(dims);
}

// 1 at element i, else 0.
tensor unit_vector(const shape& dims, dtype type, std::int64_t i) {
  const auto fill = [i](auto all) {
    std::fill(all.begin(), all.end(), 0);
    all[static_cast<std::size_t>(i)] = 1;
  };
  if (type == dtype::float64) return tensor::build<double>(dims, fill);
  const tensor x = tensor::build<float>(dims, fill);
  return type == dtype::float32 ? x : cast(x, type);
}

tensor flat_or_zeros(tensor g, const tensor& like) {
  return g.defined() ? reshape(g, shape{like.size()}) : zeros({like.size()}, like.type());
}

std::int64_t elements_of_all(std::span<const tensor> all) {
  std::int64_t count = 0;
  for (const tensor& x : all) count += x.size();
  return count;
}

// A function on the tape: its leaves and results, and what it recorded.
struct recorded_function {
  tape& t;
  tape_range range;
  std::vector<tensor> leaves, results;

  // Gradients of the leaves, empty where nothing arrives.
  std::vector<tensor> pulled(std::span<const tensor> dys) const {
    walk back(t, range, false);
    for (const tensor& x : leaves) back.want(tensor_access::position(x).value);
    back.mark();
    for (std::size_t k = 0; k < results.size(); ++k)
      if (dys[k].defined() && back.reaches(results[k]))
        accumulate(back.grad(tensor_access::position(results[k]).value), dys[k], t.depth > 0);
    back.run();
    std::vector<tensor> grads;
    for (const tensor& x : leaves) grads.push_back(std::move(back.grad(tensor_access::position(x).value)));
    return grads;
  }
};

// Vectors of equal length as the rows or the columns of a block.
tensor block_of(std::span<const tensor> vectors, int axis, const shape& dims) {
  return dims.size() == 0 ? tensor() : reshape(stack(vectors, axis), dims);
}

void write_rows(std::string_view name, const recorded_function& f, std::span<const tensor> xs,
                std::span<tensor> blocks) {
  const std::size_t operands = xs.size();
  for (std::size_t k = 0; k < f.results.size(); ++k) {
    const tensor& y = f.results[k];
    std::vector<std::vector<tensor>> rows(operands);
    std::vector<tensor> dys(f.results.size());
    for (std::int64_t i = 0; i < y.size(); ++i) {
      poll_stop(name);
      dys[k] = unit_vector(y.dims(), y.type(), i);
      std::vector<tensor> grads = f.pulled(dys);
      for (std::size_t j = 0; j < operands; ++j) rows[j].push_back(flat_or_zeros(std::move(grads[j]), xs[j]));
    }
    for (std::size_t j = 0; j < operands; ++j)
      blocks[k * operands + j] = block_of(rows[j], 0, block_dims(name, y, xs[j]));
  }
}

// `back` is the gradient of the function, on leaves that stand for its vectors: linear in them, so its own gradients
// are the columns.
void write_columns(std::string_view name, const recorded_function& back, std::span<const tensor> ys,
                   std::span<const tensor> xs, std::span<tensor> blocks) {
  for (std::size_t j = 0; j < xs.size(); ++j) {
    std::vector<std::vector<tensor>> columns(ys.size());
    std::vector<tensor> directions(xs.size());
    for (std::int64_t i = 0; i < xs[j].size(); ++i) {
      poll_stop(name);
      directions[j] = unit_vector(xs[j].dims(), xs[j].type(), i);
      std::vector<tensor> tangents = back.pulled(directions);
      for (std::size_t k = 0; k < ys.size(); ++k) {
        const tensor column = flat_or_zeros(std::move(tangents[k]), ys[k]);
        columns[k].push_back(column.type() == xs[j].type() ? column : cast(column, xs[j].type()));
      }
    }
    for (std::size_t k = 0; k < ys.size(); ++k)
      blocks[k * xs.size() + j] = block_of(columns[k], 1, block_dims(name, ys[k], xs[j]));
  }
}

}  // namespace

void jacobian_blocks(std::string_view name, borrowed_results f, std::span<const tensor> xs, jacobian_by by,
                     std::span<tensor> blocks) {
  check_jacobian_operands(name, xs);
  recording both;  // keeps what f recorded until its gradient was differentiated, too
  tape& t = both.on();
  recording forward;
  recorded_function run{t, {}, {}, std::vector<tensor>(xs.empty() ? 0 : blocks.size() / xs.size())};
  for (const tensor& x : xs) run.leaves.push_back(leaf(t, x));
  f.run(f.function, run.leaves, run.results);
  forward.end_forward();
  run.range = range_of(forward);
  std::vector<tensor> seeds;
  for (const tensor& y : run.results) {
    seeds.push_back(seed_for(name, y, nullptr));
    if (!floating.has(y.type()))
      fail(name, "a result of dtype " + std::string(name_of(y.type())), "one of " + to_string(floating),
           "take its real and imaginary parts");
    for (const tensor& x : xs) static_cast<void>(block_dims(name, y, x));
  }
  const bool by_rows =
      by == jacobian_by::rows || (by == jacobian_by::fewer && elements_of_all(run.results) <= elements_of_all(xs));
  if (by_rows) {
    both.end_forward();
    write_rows(name, run, xs, blocks);
  } else {
    recording backward;
    recorded_function back{t, {}, {}, {}};
    for (const tensor& seed : seeds) back.leaves.push_back(leaf(t, seed));
    back.results = run.pulled(back.leaves);
    backward.end_forward();
    back.range = range_of(backward);
    both.end_forward();
    write_columns(name, back, run.results, xs, blocks);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const tensor &y = run.results[i / xs.size()], &x = xs[i % xs.size()];
    if (!blocks[i].defined()) blocks[i] = zeros(block_dims(name, y, x), x.type());
    leave(t, blocks[i]);
  }
}

namespace {

// The gradient of a function as a function of several results.
struct gradient_results {
  std::string_view name;
  borrowed f;

  static void run(void* self, std::span<const tensor> xs, std::span<tensor> grads) {
    const auto& [name, f] = *static_cast<const gradient_results*>(self);
    const tensor y = gradients(name, f, xs, nullptr, grads);
    if (y.size() != 1)
      fail(name, "a function whose result has shape " + to_string(y.dims()), "a scalar", "take its sum or mean");
  }
};

// The part of the gradient along given vectors, as a function of the operands.
struct gradient_along {
  borrowed f;
  std::span<const tensor> vs;

  static tensor run(void* self, std::span<const tensor> xs) {
    const auto& [f, vs] = *static_cast<const gradient_along*>(self);
    std::vector<tensor> grads(xs.size());
    gradient_results of{"kg::hvp", f};
    gradient_results::run(&of, xs, grads);
    tensor total = zeros({}, dtype::float32);
    for (std::size_t i = 0; i < vs.size(); ++i)
      if (vs[i].defined()) total = total + sum(grads[i] * vs[i]);
    return total;
  }
};

}  // namespace

void hessian_blocks(std::string_view name, borrowed f, std::span<const tensor> xs, std::span<tensor> blocks) {
  gradient_results of{name, f};
  jacobian_blocks(name, {&of, gradient_results::run}, xs, jacobian_by::rows, blocks);
}

void hessian_products(borrowed f, std::span<const tensor> xs, std::span<const tensor> vs, std::span<tensor> products) {
  check_jacobian_operands("kg::hvp", xs);
  for (std::size_t i = 0; i < xs.size(); ++i)
    if (vs[i].defined() && !(vs[i].signature() == xs[i].signature()))
      fail("kg::hvp", "a vector " + std::string(name_of(vs[i].type())) + " " + to_string(vs[i].dims()),
           std::string(name_of(xs[i].type())) + " " + to_string(xs[i].dims()) + " like the operand");
  gradient_along of{f, vs};
  gradients("kg::hvp", {&of, gradient_along::run}, xs, nullptr, products);
}

}  // namespace kerngrad::detail

namespace kerngrad {

std::vector<tensor> jacobian_of(const std::function<tensor(std::span<const tensor>)>& f, std::span<const tensor> xs,
                                jacobian_by by) {
  using list_of_one = std::function<tensor(std::span<const tensor>)>;
  const detail::borrowed_results call{const_cast<void*>(static_cast<const void*>(&f)),
                                      [](void* function, std::span<const tensor> values, std::span<tensor> ys) {
                                        ys[0] = (*static_cast<const list_of_one*>(function))(values);
                                      }};
  std::vector<tensor> blocks(xs.size());
  detail::jacobian_blocks("kg::jacobian_of", call, xs, by, blocks);
  return blocks;
}

}  // namespace kerngrad
