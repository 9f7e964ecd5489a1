// SPDX-License-Identifier: Apache-2.0
// libxsmm: the small matrix products that it is made for. Row-major products are column-major ones with the operands
// swapped.
#include <libxsmm.h>

#include "bench/peers/case.h"

int main(int argc, char** argv) {
  return cases::run(argc, argv, [] {
    for (cases::product_size s : cases::small_products)
      cases::add("matmul", s, [s] {
        return [=, m = static_cast<libxsmm_blasint>(s.m), k = static_cast<libxsmm_blasint>(s.k),
                n = static_cast<libxsmm_blasint>(s.n), a = cases::floats(0, s.m * s.k), b = cases::floats(1, s.k * s.n),
                c = cases::result(s.m * s.n)] {
          const float alpha = 1, beta = 0;
          libxsmm_sgemm("N", "N", &n, &m, &k, &alpha, b, &n, a, &k, &beta, c, &n);
        };
      });
  });
}
