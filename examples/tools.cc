// SPDX-License-Identifier: Apache-2.0
#include <iostream>
import kerngrad;

int main() {
  const kg::tensor x({1.f, 2.f, 3.f}), w({0.5f, 0.f, -0.5f});
  auto loss = [&](const kg::tensor& t) { return kg::sum(kg::log(kg::square(t) * x)); };

  // Which kernels run, on what, and how long they take.
  const kg::profile_result p = kg::profile([&] { kg::grad(loss)(x); });
  for (const kg::kernel_run& run : p.runs)
    if (run.op == "Log") std::cout << run.op << " " << kg::to_string(run.in[0].dims) << " " << run.bytes << " bytes\n";
  // prints: Log [3] 24 bytes
  std::cerr << kg::to_string(p);            // a table, the longest total first
  kg::write_chrome_trace(p, "trace.json");  // for chrome://tracing and ui.perfetto.dev

  // Which op makes the first NaN or infinity.
  try {
    const kg::nan_check guard;
    kg::grad(loss)(w);
  } catch (const kg::error& e) {
    std::cout << e.op() << ": " << e.got().substr(0, 31) << "\n";
    std::cout << e.advice() << "\n";
  }
  // prints: kg::log: an infinity at [1] of result 0,
  // prints: operand x: float32 [3], from 0 to 0.75, 0 NaN, 0 infinite

  // Measures how much memory a part of a program keeps, and its peak.
  const kg::memory_scope scope;
  kg::reset_peak_memory();
  const std::int64_t before = kg::memory().peak_bytes;
  kg::tensor kept;
  {
    const kg::tensor large = kg::zeros({1000});
    kept = kg::reshape(kg::zeros({2, 3}), {6});
  }
  std::cout << kg::to_string(scope.leaked()) << "\n";
  std::cout << "at most " << kg::memory().peak_bytes - before << " bytes\n";
  // prints: 2 tensors, 1 buffer, 24 bytes
  // prints: at most 4024 bytes
}
