#include <cmath>
#include <iostream>
#include <vector>
import kerngrad;

int main() {
  // Softshrink: x beyond lambda, moved towards 0 by lambda; 0 between.
  kg::register_kernel({.name = "Softshrink", .run = [](const kg::kernel_call& c) -> kg::tensor_list {
    const float lambda = static_cast<float>(c.attr("lambda", 0.5).as_number());
    std::vector<float> y;
    for (float x : c.input("x").data<float>()) y.push_back(std::fabs(x) > lambda ? x - std::copysign(lambda, x) : 0);
    return {kg::tensor(y, c.input("x").dims())};
  }});
  kg::register_gradient({.name = "Softshrink", .saves_outputs = true, .run = [](const kg::gradient_call& c) {
    return std::vector<kg::named_operand>{{"x", c.dy() * kg::cast(c.output() != 0, kg::dtype::float32)}};
  }});
  const kg::tensor x({-2.f, -0.3f, 0.1f, 1.5f});
  auto softshrink = [](const kg::tensor& t) { return kg::run_kernel("Softshrink", {{"x", t}}, {{"lambda", 0.5}}); };
  std::cout << softshrink(x) << "\n";                                    // [-1.5, 0, 0, 1]
  std::cout << kg::grad([&](const kg::tensor& t) { return kg::sum(kg::square(softshrink(t))); })(x) << "\n";  // [-3, 0, 0, 2]
}
