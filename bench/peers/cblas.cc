// SPDX-License-Identifier: Apache-2.0
// Matrix products through CBLAS: one program for each library that has it.
#include <cblas.h>

#include "bench/peers/case.h"

namespace {

void add(const char* name, cases::product_size s, CBLAS_TRANSPOSE of_a, CBLAS_TRANSPOSE of_b) {
  cases::add(name, s, [=] {
    const auto m = static_cast<int>(s.m), k = static_cast<int>(s.k), n = static_cast<int>(s.n);
    return [=, a = cases::floats(0, s.m * s.k), b = cases::floats(1, s.k * s.n), c = cases::result(s.m * s.n)] {
      cblas_sgemm(CblasRowMajor, of_a, of_b, m, n, k, 1, a, of_a == CblasTrans ? m : k, b, of_b == CblasTrans ? k : n,
                  0, c, n);
    };
  });
}

}  // namespace

int main(int argc, char** argv) {
  return cases::run(argc, argv, [] {
    constexpr cases::product_size cube{cases::side, cases::side, cases::side};
    for (cases::product_size s : cases::products) add("matmul", s, CblasNoTrans, CblasNoTrans);
    add("matmul_nt", cube, CblasNoTrans, CblasTrans);
    add("matmul_tn", cube, CblasTrans, CblasNoTrans);
  });
}
