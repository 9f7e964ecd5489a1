// SPDX-License-Identifier: Apache-2.0
// The program of docs/gallery/field.md: a differential equation that is learned from what it does, and its field.
#include <iostream>
#include <vector>

import kerngrad;
import kerngrad.io;

namespace {

// Van der Pol's oscillator, of states [n, 2]: what is to be found out.
kg::tensor oscillator(const kg::tensor& s) {
  const kg::tensor x = s(kg::all, 0), v = s(kg::all, 1);
  return kg::stack({v, (1 - x * x) * v - x}, -1);
}

struct network {
  kg::variable in, in_bias, middle, middle_bias, out;
  explicit network(kg::generator& rng)
      : in(kg::glorot_uniform(rng, {2, 32})),
        in_bias(kg::zeros({32})),
        middle(kg::glorot_uniform(rng, {32, 32})),
        middle_bias(kg::zeros({32})),
        out(kg::glorot_uniform(rng, {32, 2})) {}
  kg::tensor operator()(const kg::tensor& s) const {
    const kg::tensor hidden = kg::tanh(kg::matmul(s, in) + in_bias);
    return kg::matmul(kg::tanh(kg::matmul(hidden, middle) + middle_bias), out);
  }
};

// A step of Runge and Kutta. It is made of ops, so that gradients go through it.
template <class F>
kg::tensor step(const F& f, const kg::tensor& s, double h) {
  const kg::tensor k1 = f(s), k2 = f(s + k1 * (h / 2)), k3 = f(s + k2 * (h / 2)), k4 = f(s + k3 * h);
  return s + (k1 + k2 * 2 + k3 * 2 + k4) * (h / 6);
}

}  // namespace

int main() {
  constexpr double h = 0.1;
  kg::generator rng(4);
  const kg::tensor now = rng.uniform({1024, 2}, -3, 3), later = step(oscillator, now, h);
  const network learned(rng);
  kg::adam optimizer(kg::exponential_schedule(0.01, 400, 0.5));
  for (int i = 0; i < 2000; ++i)
    optimizer.minimize([&] { return kg::mean(kg::square(step(learned, now, h) - later)); });

  // From near the middle outwards, as it was learned.
  kg::tensor path({0.2f, 0.f}, {1, 2});
  std::vector<kg::tensor> passed;
  for (int i = 0; i < 1500; ++i) {
    passed.push_back(path);
    path = step(learned, path, h / 10);
  }

  // The field as a flow: each pixel is the mean of the noise that it comes from and goes to, a pixel at a time.
  constexpr int size = 256;
  const kg::tensor at = kg::linspace(-3, 3, size);
  const kg::tensor_list plane = kg::meshgrid({at, -at}), pixels = kg::meshgrid({kg::arange(size), kg::arange(size)});
  const kg::tensor states = kg::reshape(kg::stack({plane[0], plane[1]}, -1), {-1, 2});
  const kg::tensor field = learned(states), speed = kg::euclidean_norm(field, 1, true);
  const kg::tensor off = kg::euclidean_norm(field - oscillator(states), 1, true);
  std::cout << (kg::sum(off).item() < kg::sum(speed).item() / 10 ? "less" : "more") << " than a tenth off\n";
  const kg::tensor way = kg::reshape(field / speed * kg::tensor({1.f, -1.f}), {size, size, 2});
  const kg::tensor noise = rng.uniform({size, size});
  kg::tensor flow = kg::zeros({size, size});
  for (const int direction : {-1, 1}) {
    kg::tensor place = kg::cast(kg::stack({pixels[0], pixels[1]}, -1), kg::dtype::float32);
    for (int i = 0; i < 16; ++i) {
      const kg::tensor whole = kg::cast(kg::round(place), kg::dtype::int32);
      const kg::tensor column = whole(kg::ellipsis, 0), row = whole(kg::ellipsis, 1);
      flow += noise(row, column) / 32;
      place = kg::clip(place + way(row, column) * direction, 0, size - 1);
    }
  }

  // Slow is blue, fast is orange; the path is white.
  const kg::tensor pace = kg::reshape(1 - kg::exp(speed * -0.3), {size, size});
  const kg::tensor light = kg::clip((flow - 0.5) * 4 + 0.6, 0, 1);
  kg::tensor picture = kg::stack({light * pace, light * 0.45, light * (1 - pace)}, -1);
  const kg::tensor seen = kg::concat(passed, 0) / 6 * (size - 1);
  const kg::tensor column = kg::cast(kg::round(seen(kg::all, 0) + size / 2), kg::dtype::int32);
  const kg::tensor row = kg::cast(kg::round(size / 2 - seen(kg::all, 1)), kg::dtype::int32);
  picture = picture.at(row, column).set(1);
  kg::io::save("field.png", kg::cast(kg::round(picture * 255), kg::dtype::uint8));
  std::cout << kg::to_string(kg::tensor(kg::io::load("field.png")).dims()) << "\n";
}
