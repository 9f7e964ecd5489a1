// SPDX-License-Identifier: Apache-2.0
// The program of docs/gallery/segment.md: puts the person of an image before another background, by a model of
// TensorFlow.js. segment [MODEL.json [PHOTO.png]]
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

import kerngrad;
import kerngrad.graph;
import kerngrad.io;

namespace {

constexpr int size = 256;  // of the model's pictures

// Path at which `./dev models` keeps the model.
std::string cached_model() {
  const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
  const std::filesystem::path root(cache ? std::string(cache) : std::string(home ? home : "") + "/.cache");
  std::error_code none;
  for (const auto& package : std::filesystem::directory_iterator(root / "kerngrad/models", none))
    if (const auto file = package.path() / "selfie.json"; std::filesystem::exists(file)) return file.string();
  return "selfie.json";
}

// ------------------------------------------------------------------------------------------ a picture to begin with

// Places of the pixels, from -1 to 1.
const kg::tensor x = kg::reshape(kg::linspace(-1, 1, size), {1, size, 1}), y = kg::transpose(x, {1, 0, 2});

struct drawing {
  kg::tensor picture, person;  // colours, and where the person is: 1 there, else 0

  // An ellipse, in the light like a ball.
  void add(double cx, double cy, double rx, double ry, const kg::tensor& color) {
    const kg::tensor inside = 1 - kg::square((x - cx) / rx) - kg::square((y - cy) / ry);
    const kg::tensor cover = kg::clip(inside * 16 + 0.5, 0, 1);
    const kg::tensor light = kg::sqrt(kg::relu(inside)) * 0.35 + 0.65 - x * 0.2 - y * 0.1;
    picture = kg::clip(kg::where(cover > 0, picture * (1 - cover) + light * color * cover, picture), 0, 1);
    person = kg::maximum(person, cover);
  }
};

// A person before a wall.
drawing portrait() {
  const kg::tensor hair({0.20f, 0.12f, 0.08f}), skin({0.92f, 0.70f, 0.58f}), white({1.f, 1.f, 0.98f});
  const kg::tensor wall = (0.95 - x * 0.08 - y * 0.08) * kg::tensor({0.62f, 0.68f, 0.70f});
  drawing d{wall, kg::zeros({size, size, 1})};
  d.add(0, 1.25, 0.75, 0.75, kg::tensor({0.20f, 0.30f, 0.60f}));  // a shirt
  d.add(0, 0.38, 0.17, 0.32, skin * 0.85);
  d.add(0, -0.20, 0.43, 0.52, hair);
  d.add(0, -0.08, 0.33, 0.44, skin);
  d.add(0, -0.52, 0.36, 0.18, hair);
  for (const double side : {-0.13, 0.13}) {
    d.add(side, -0.12, 0.07, 0.035, white);
    d.add(side, -0.12, 0.032, 0.034, hair);
    d.add(side, -0.21, 0.09, 0.02, hair);
  }
  d.add(0.01, 0.03, 0.04, 0.08, skin * 0.95);
  d.add(0, 0.19, 0.11, 0.03, kg::tensor({0.75f, 0.35f, 0.35f}));
  return d;
}

// The part of all that either of them covers which both do.
double overlap(const kg::tensor& a, const kg::tensor& b) {
  return (kg::sum(kg::minimum(a, b)) / kg::sum(kg::maximum(a, b))).item();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string file = argc > 1 ? argv[1] : cached_model();
  if (!std::filesystem::exists(file)) {
    std::cout << file << " is not there: ./dev models fetches it\n";
    return 77;
  }
  const drawing drawn = portrait();
  kg::tensor picture = drawn.picture;
  if (argc > 2)  // without what is transparent
    picture = kg::cast(kg::tensor(kg::io::load(argv[2])), kg::dtype::float32)(kg::ellipsis, kg::range(0, 3)) / 255;
  picture = kg::resize_bilinear(picture(kg::newaxis), {size, size});

  const kg::graph::model model = kg::graph::load(file);
  const kg::tensor mask = kg::tensor(model({{"input_1", picture}}))(0);  // how likely each pixel is the person's

  const kg::tensor rays = kg::sin(kg::atan2(y + 0.2, x) * 12) * 0.5 + 0.5;
  const kg::tensor behind = rays * kg::tensor({0.98f, 0.80f, 0.25f}) + (1 - rays) * kg::tensor({0.90f, 0.35f, 0.25f});
  const kg::tensor both = kg::concat({picture(0), picture(0) * mask + behind * (1 - mask)}, 1);
  kg::io::save("segment.png", kg::cast(kg::round(both * 255), kg::dtype::uint8));

  if (argc > 2) return 0;
  std::cout << "the model finds " << (overlap(mask, drawn.person) > 0.9 ? "more" : "less")
            << " than nine tenths of who was drawn, and no more\n";
}
