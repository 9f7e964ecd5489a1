// SPDX-License-Identifier: Apache-2.0
// trace FILE: profiles a bit of everything under a locale with other digits, and writes the trace. Prints the number of
// kernels that ran.
#include <cstdio>
#include <locale>
#include <string>
import kerngrad;

namespace {

struct grouping : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\1"; }
};

kg::registration doubler(const std::string& name) {
  kg::kernel_config config;
  config.name = name;
  config.run = [](const kg::kernel_call& call) -> kg::tensor_list {
    return {kg::add(call.input("x"), call.input("x"))};
  };
  return kg::scoped_kernel(std::move(config));
}

}  // namespace

int main(int, char** argv) {
  std::locale::global(std::locale(std::locale::classic(), new grouping));
  const std::string name = "\"double\"\n\\ \xc3\xa9 \xff";
  const kg::registration registered = doubler(name);
  kg::register_backend("without_kernels", nullptr);
  kg::set_fallback(kg::fallback::by_priority);
  const kg::tensor x = kg::full({100, 100}, 0.5);
  const kg::profile_result p = kg::profile([&] {
    kg::run_kernel(name, {x});
    kg::grad([](const kg::tensor& t) { return kg::sum(kg::exp(t) * t); })(x);
    const kg::backend_scope scope("without_kernels");
    kg::sin(x);
  });
  kg::write_chrome_trace(p, argv[1]);
  std::printf("%d\n", static_cast<int>(p.runs.size()));
}
