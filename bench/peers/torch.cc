// SPDX-License-Identifier: Apache-2.0
// libtorch 1.13: ops into ready results where it has such a form, in inference mode, and its autograd. Images are NHWC
// in memory.
#include <torch/torch.h>

#include <memory>

#include "bench/peers/case.h"

namespace {

using torch::Tensor;

Tensor tensor(int operand_index, at::IntArrayRef dims, float low = -2, float high = 2) {
  std::size_t n = 1;
  for (const std::int64_t size : dims) n *= static_cast<std::size_t>(size);
  return torch::from_blob(cases::floats(operand_index, n, low, high), dims);
}
Tensor vector(int operand_index, std::size_t n) { return tensor(operand_index, {static_cast<std::int64_t>(n)}); }
Tensor image(int operand_index, std::int64_t size, std::int64_t channels) {
  return tensor(operand_index, {1, size, size, channels}).permute({0, 3, 1, 2});
}
Tensor filter(at::IntArrayRef dims) { return tensor(1, dims).contiguous(at::MemoryFormat::ChannelsLast); }
void use(const Tensor& x) { benchmark::DoNotOptimize(x.unsafeGetTensorImpl()); }

// `f` is timed without a tape.
template <class Size, class Make>
void timed(const std::string& name, const Size& size, Make make) {
  cases::add(name, size, [make] {
    return [f = make()]() mutable {
      const c10::InferenceMode no_tape;
      f();
    };
  });
}

void add_small() {
  for (const std::size_t n : cases::small_sizes) {
    timed("add_into", n,
          [n] { return [a = vector(0, n), b = vector(1, n), y = vector(30, n)]() mutable { at::add_out(y, a, b); }; });
    timed("add_fresh", n, [n] { return [a = vector(0, n), b = vector(1, n)] { use(at::add(a, b)); }; });
    timed("reshape", n,
          [n] { return [a = vector(0, n), count = static_cast<std::int64_t>(n)] { use(a.view({1, count})); }; });
  }
}

struct elementwise {
  const char* name;
  void (*run)(Tensor& y, const Tensor& a, const Tensor& b, const Tensor& c);
};
constexpr elementwise elementwise_ops[] = {
    {"add", [](Tensor& y, const Tensor& a, const Tensor& b, const Tensor&) { at::add_out(y, a, b); }},
    {"mul", [](Tensor& y, const Tensor& a, const Tensor& b, const Tensor&) { at::mul_out(y, a, b); }},
    {"relu", [](Tensor& y, const Tensor& a, const Tensor&, const Tensor&) { at::clamp_min_out(y, a, 0); }},
    {"exp", [](Tensor& y, const Tensor& a, const Tensor&, const Tensor&) { at::exp_out(y, a); }},
    {"sigmoid", [](Tensor& y, const Tensor& a, const Tensor&, const Tensor&) { at::sigmoid_out(y, a); }},
    {"tanh", [](Tensor& y, const Tensor& a, const Tensor&, const Tensor&) { at::tanh_out(y, a); }},
    {"erf", [](Tensor& y, const Tensor& a, const Tensor&, const Tensor&) { at::erf_out(y, a); }},
    {"gelu4",  // in place: torch's fastest way that needs no compiler
     [](Tensor& y, const Tensor& a, const Tensor& b, const Tensor& c) {
       at::sigmoid_out(y, a);
       y.mul_(a).mul_(b).add_(c);
     }},
    {"sum", [](Tensor&, const Tensor& a, const Tensor&, const Tensor&) { use(at::sum(a)); }},
    {"max", [](Tensor&, const Tensor& a, const Tensor&, const Tensor&) { use(at::max(a)); }},
};

void add_elementwise() {
  for (const std::size_t n : cases::element_sizes) {
    for (const elementwise& op : elementwise_ops)
      timed(op.name, n, [&op, n] {
        return [&op, a = vector(0, n), b = vector(1, n), c = vector(2, n), y = vector(30, n)]() mutable {
          op.run(y, a, b, c);
        };
      });
    timed("log", n, [n] {
      const Tensor x = torch::from_blob(cases::positive(n), {static_cast<std::int64_t>(n)});
      return [x, y = vector(30, n)]() mutable { at::log_out(y, x); };
    });
  }
}

// f(y, x) on a matrix; a result of one number a row has the row's length to spare.
void add_matrix(const char* name, cases::matrix_size s, void (*f)(Tensor& y, const Tensor& x), bool by_row = false) {
  timed(name, s, [=] {
    const auto rows = static_cast<std::int64_t>(s.rows), columns = static_cast<std::int64_t>(s.columns);
    return [f, x = tensor(0, {rows, columns}),
            y = by_row ? tensor(30, {rows}) : tensor(30, {rows, columns})]() mutable { f(y, x); };
  });
}

void add_matrices() {
  constexpr cases::matrix_size square{cases::side, cases::side};
  add_matrix("sum_last", square, [](Tensor& y, const Tensor& x) { at::sum_out(y, x, 1); }, true);
  add_matrix("sum_first", square, [](Tensor& y, const Tensor& x) { at::sum_out(y, x, 0); }, true);
  add_matrix("cumsum", square, [](Tensor& y, const Tensor& x) { at::cumsum_out(y, x, 1); });
  add_matrix("transpose", square, [](Tensor& y, const Tensor& x) { y.copy_(x.t()); });
  add_matrix("pad", square, [](Tensor&, const Tensor& x) { use(at::constant_pad_nd(x, {1, 1, 1, 1})); });
  timed("fft", "64x1024",
        [] { return [x = torch::view_as_complex(tensor(0, {64, 1024, 2}))] { use(at::fft_fft(x)); }; });
  for (cases::matrix_size s : cases::row_sizes) {
    add_matrix("softmax", s, [](Tensor& y, const Tensor& x) { at::_softmax_out(y, x, 1, false); });
    add_matrix("logsumexp", s, [](Tensor& y, const Tensor& x) { at::logsumexp_out(y, x, 1); }, true);
    add_matrix("argmax", s, [](Tensor&, const Tensor& x) { use(at::argmax(x, 1)); });
  }
  for (cases::product_size s : cases::products)
    timed("matmul", s, [s] {
      const auto m = static_cast<std::int64_t>(s.m), k = static_cast<std::int64_t>(s.k),
                 n = static_cast<std::int64_t>(s.n);
      return [a = tensor(0, {m, k}), b = tensor(1, {k, n}), c = tensor(30, {m, n})]() mutable { at::mm_out(c, a, b); };
    });
}

void add_windows() {
  const char* size = "1x56x56x64";
  timed("conv3x3", size,
        [] { return [x = image(0, 56, 64), w = filter({64, 64, 3, 3})] { use(at::conv2d(x, w, {}, 1, 1)); }; });
  timed("conv7x7s2", "1x224x224x3",
        [] { return [x = image(0, 224, 3), w = filter({64, 3, 7, 7})] { use(at::conv2d(x, w, {}, 2, 3)); }; });
  timed("depthwise3x3", size,
        [] { return [x = image(0, 56, 64), w = filter({64, 1, 3, 3})] { use(at::conv2d(x, w, {}, 1, 1, 1, 64)); }; });
  timed("maxpool2x2", size, [] { return [x = image(0, 56, 64)] { use(at::max_pool2d(x, {2, 2}, {2, 2})); }; });
  for (const bool of_input : {true, false})
    timed(of_input ? "conv3x3_grad_input" : "conv3x3_grad_filter", size, [of_input] {
      return [=, x = image(0, 56, 64), w = filter({64, 64, 3, 3}), dy = image(2, 56, 64)] {
        const auto both = at::convolution_backward(dy, x, w, c10::nullopt, {1, 1}, {1, 1}, {1, 1}, false, {0, 0}, 1,
                                                   {of_input, !of_input, false});
        use(of_input ? std::get<0>(both) : std::get<1>(both));
      };
    });
  timed("batchnorm", size, [] {
    const Tensor variance = torch::from_blob(cases::positive(64), {64});
    return [=, x = image(0, 56, 64), w = vector(1, 64), b = vector(2, 64), mean = vector(3, 64)] {
      use(at::batch_norm(x, w, b, mean, variance, false, 0.1, 1e-5, false));
    };
  });
}

void add_moves() {
  const auto side = static_cast<std::int64_t>(cases::side);
  timed("layernorm", "1024x1024", [side] {
    return [side, x = tensor(0, {side, side}), w = tensor(1, {side}), b = tensor(2, {side})] {
      use(at::layer_norm(x, {side}, w, b));
    };
  });
  timed("bcast_add", "1024x1024", [side] {
    return [a = tensor(0, {side, side}), b = tensor(1, {side}), y = tensor(30, {side, side})]() mutable {
      at::add_out(y, a, b);
    };
  });
  timed("gather_rows", "10000x128,4096", [] {
    const Tensor rows = torch::from_blob(cases::indices(cases::gathered, cases::table_rows), {4096}, torch::kInt);
    return [rows, x = tensor(0, {cases::table_rows, cases::table_columns}),
            y = tensor(30, {cases::gathered, cases::table_columns})]() mutable { at::index_select_out(y, x, 0, rows); };
  });
  timed("concat", "2x512x1024", [side] {
    return [a = tensor(0, {side / 2, side}), b = tensor(1, {side / 2, side}), y = tensor(30, {side, side})]() mutable {
      at::cat_out(y, {a, b}, 0);
    };
  });
  timed("one_hot", "1024x1000", [] {
    const Tensor i = torch::from_blob(cases::indices(1024, 1000), {1024}, torch::kInt).to(torch::kLong);
    return [i] { use(at::one_hot(i, 1000).to(torch::kFloat)); };
  });
  timed("where", "1000000", [] {
    const Tensor a = vector(0, 1000000), b = vector(1, 1000000), c = a > b;
    return [=] { use(at::where(c, a, b)); };
  });
  timed("cast", "1000000",
        [] { return [a = vector(0, 1000000), y = torch::empty({1000000}, torch::kInt)]() mutable { y.copy_(a); }; });
}

// ---- gradients: the tape is recorded, run backward and dropped at every call

Tensor chain(const Tensor& x, std::size_t length) {
  Tensor y = x;
  for (std::size_t i = 0; i < length; ++i) y = y * x;
  return y;
}
Tensor scalar(const Tensor& x) { return at::sin(x) * x + at::exp(x); }

// f of a tensor of one element with its gradient.
template <class F>
void add_gradient(const char* name, std::size_t size, float at, F f) {
  cases::add(name, size, [=] {
    return [f, x = torch::full({1}, at).set_requires_grad(true)]() mutable {
      f(x).backward();
      use(x.grad());
      x.mutable_grad().reset();
    };
  });
}

// PyTorch 1.13 has no op for it.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v) {
  return at::matmul(at::softmax(at::matmul(q * 0.125, k.transpose(-2, -1)), -1), v);
}
void add_attention() {
  constexpr std::int64_t dims[] = {8, 512, 64};
  timed("attention", "8x512x64", [dims] {
    return [q = tensor(0, dims), k = tensor(1, dims), v = tensor(2, dims)] { use(attention(q, k, v)); };
  });
  cases::add("attention_value_grad", "8x512x64", [dims] {
    const auto variable = [&](int operand_index) {
      return tensor(operand_index, dims).clone().set_requires_grad(true);
    };
    return [q = variable(0), k = variable(1), v = variable(2), w = tensor(3, dims)]() mutable {
      (attention(q, k, v) * w).sum().backward();
      for (Tensor* x : {&q, &k, &v}) x->mutable_grad().reset();
    };
  });
}

struct perceptron {
  Tensor images = tensor(0, {64, 784}, 0, 1);
  Tensor labels = torch::from_blob(cases::indices(64, 10), {64}, torch::kInt).to(torch::kLong);
  Tensor w1 = parameter(1, {784, 128}, 0.05f), b1 = parameter(2, {128}, 0.01f);
  Tensor w2 = parameter(3, {128, 10}, 0.1f), b2 = parameter(4, {10}, 0.01f);

  static Tensor parameter(int operand_index, at::IntArrayRef dims, float bound) {
    return tensor(operand_index, dims, -bound, bound).clone().set_requires_grad(true);
  }
  Tensor loss() const {
    const Tensor hidden = at::relu(at::addmm(b1, images, w1));
    return at::cross_entropy_loss(at::addmm(b2, hidden, w2), labels);
  }
  void step() {
    loss().backward();
    const torch::NoGradGuard no_tape;
    for (Tensor* p : {&w1, &b1, &w2, &b2}) {
      p->add_(p->grad(), -0.001);
      p->mutable_grad().reset();
    }
  }
};

void add_gradients() {
  for (const std::size_t length : {10, 100})
    add_gradient("chain_value_grad", length, 0.99f, [length](const Tensor& x) { return chain(x, length); });
  add_gradient("scalar_value_grad", 1, 0.7f, scalar);
  timed("scalar_value", 1, [] { return [x = torch::full({1}, 0.7f)] { use(scalar(x)); }; });
  cases::add("gelu4_value_grad", 64000, [] {
    return [x = vector(0, 64000).clone().set_requires_grad(true), w = vector(1, 64000).clone().set_requires_grad(true),
            z = vector(2, 64000)]() mutable {
      (x * torch::sigmoid(x) * w + z).sum().backward();
      x.mutable_grad().reset();
      w.mutable_grad().reset();
    };
  });
  add_attention();
  cases::add("mlp_step", "64x784-128-10", [] { return [net = std::make_shared<perceptron>()] { net->step(); }; });
}

}  // namespace

int main(int argc, char** argv) {
  return cases::run(argc, argv, [] {
    add_small();
    add_elementwise();
    add_matrices();
    add_windows();
    add_moves();
    add_gradients();
  });
}
