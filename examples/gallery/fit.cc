// SPDX-License-Identifier: Apache-2.0
// The program of docs/gallery/fit.md: a curve through noisy points, and how sure it is.
#include <cstdint>
#include <iostream>

import kerngrad;
import kerngrad.io;

namespace {

kg::tensor curve(const kg::tensor& p, const kg::tensor& t) { return p(0) * kg::exp(-p(1) * t) * kg::cos(p(2) * t); }

// The inverse of a matrix of full rank: R from its QR decomposition is solved from the last row up.
kg::tensor inverse(const kg::tensor& a) {
  const auto [q, r] = kg::qr(a);
  kg::tensor x = kg::transpose(q);
  for (std::int64_t i = a.dims()[0] - 1; i >= 0; --i) {
    const kg::range later(i + 1, kg::end);
    x = x.at(i).set((x(i) - kg::matmul(r(i, later), x(later))) / r(i, i));
  }
  return x;
}

}  // namespace

int main() {
  constexpr double noise = 0.15;
  kg::generator rng(5);
  const kg::tensor truth({1.0, 0.5, 4.0}), t = kg::linspace(0, 3, 40, kg::dtype::float64);
  const kg::tensor points = curve(truth, t) + rng.normal({40}, 0, noise, kg::dtype::float64);

  kg::tensor p({0.8, 0.3, 3.8});
  const auto residuals = [&](const kg::tensor& q) { return points - curve(q, t); };
  for (int i = 0; i < 10; ++i) {
    const kg::tensor j = kg::jacobian(residuals)(p);
    p -= kg::matmul(inverse(kg::matmul(j, j, true)), kg::matmul(residuals(p), j));
  }
  const kg::tensor slopes = kg::jacobian(residuals)(p);
  const kg::tensor covariance = inverse(kg::matmul(slopes, slopes, true)) * (noise * noise);
  const kg::tensor deviation = kg::sqrt(kg::diagonal(covariance));
  std::cout << (kg::all(kg::abs(p - truth) < deviation * 3).item() != 0 ? "within" : "not within")
            << " three standard deviations of the truth\n";

  constexpr int width = 240, height = 120;
  const kg::tensor along = kg::linspace(0, 3, width, kg::dtype::float64);
  const kg::tensor middle = curve(p, along);
  const kg::tensor j = kg::jacobian([&](const kg::tensor& q) { return curve(q, along); })(p);
  const kg::tensor spread = kg::sqrt(kg::sum(kg::matmul(j, covariance) * j, 1));
  const kg::tensor level = kg::expand_dims(kg::linspace(1.2, -1.2, height, kg::dtype::float64), 1);
  const kg::tensor off = kg::abs(level - middle);
  kg::tensor picture = kg::where(off < 0.012, 0, kg::where(off < spread * 2, 170, kg::full({height, width}, 255)));
  const kg::tensor columns = kg::cast(kg::round(t / 3 * (width - 1)), kg::dtype::int32);
  const kg::tensor rows =
      kg::cast(kg::clip(kg::round((1.2 - points) / 2.4 * (height - 1)), 1, height - 2), kg::dtype::int32);
  for (const int shift : {-1, 0, 1}) picture = picture.at(rows + shift, columns).set(80);
  kg::io::save("fit.png", kg::cast(picture, kg::dtype::uint8));
  std::cout << kg::to_string(kg::tensor(kg::io::load("fit.png")).dims()) << "\n";
}
