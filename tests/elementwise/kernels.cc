// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kernels/elementwise/binary.h"
#include "kernels/convert/convert.h"
#include "kernels/elementwise/select.h"
#include "kernels/elementwise/unary.h"
#include "tests/elementwise/oracle.h"
#include "tests/elementwise/sweep.h"
#include "tests/support/kernels.h"

namespace {

using namespace kerngrad::kernels;
using kerngrad::dtype;
using kgtest::scalar;

using kgtest::column;
using kgtest::guarded_run;
using kgtest::probe;
using kgtest::random_column;
using kgtest::sweep;

constexpr std::size_t column_size = kgtest::column_size;

using call = kgtest::elementwise_call;

std::string name_of(const entry& e) {
  return std::string(e.op) + " of dtype " + std::to_string(static_cast<int>(e.type));
}

probe unary_probe(const entry& e, const double* params) {
  probe p{name_of(e), {e.type}, kgtest::result_of(e.op, e.type), {random_column(e.type, 1)}, {}, 0};
  p.ulps = kgtest::tolerance_of(e.op, e.type);
  for (std::size_t i = 0; i < column_size; ++i) {
    p.expected.push_back(kgtest::unary_oracle(e.op, e.type, kgtest::read(p.data[0].data(), e.type, i), params));
  }
  return p;
}
probe binary_probe(const entry& e) {
  probe p{name_of(e), {e.type, e.type}, kgtest::result_of(e.op, e.type), {}, {}, 0};
  p.data = {random_column(e.type, 2), random_column(e.type, 3)};
  p.ulps = kgtest::tolerance_of(e.op, e.type);
  for (std::size_t i = 0; i < column_size; ++i) {
    p.expected.push_back(kgtest::binary_oracle(e.op, e.type, kgtest::read(p.data[0].data(), e.type, i),
                                               kgtest::read(p.data[1].data(), e.type, i)));
  }
  return p;
}

call unary_run(const entry& e, double p0, double p1) {
  return [&e, p0, p1](const void* const* in, void* out, std::size_t n) {
    const unary_geometry g{static_cast<std::int64_t>(n), {p0, p1}};
    e.run(in, &out, &g);
  };
}
call unary_flat(const entry& e) {
  return [&e](const void* const* in, void* out, std::size_t n) { e.flat1(in[0], out, n); };
}
call binary_flat(const entry& e) {
  return [&e](const void* const* in, void* out, std::size_t n) { e.flat2(in[0], in[1], out, n); };
}
call binary_in_place(const entry& e, int which) {
  return [&e, which](const void* const* in, void* out, std::size_t n) {
    if (n != 0) std::memcpy(out, in[which], n * kgtest::size_of(e.type));
    e.flat2(which == 0 ? out : in[0], which == 1 ? out : in[1], out, n);
  };
}

const double parameters[][2] = {{0.3, 2.7}, {-2.5, 6.0}, {std::nan(""), 1e300}, {-1e300, std::nan("")}, {-0.75, 3e9}};

// Kernels of one operand, then those that have parameters too.
template <std::size_t N, std::size_t M>
std::vector<entry> joined(const entry (&list)[N], const entry (&with_parameters)[M]) {
  std::vector<entry> all(std::begin(list), std::end(list));
  all.insert(all.end(), std::begin(with_parameters), std::end(with_parameters));
  return all;
}
const std::vector<entry> one_operand = joined(unary_simd, parametric_simd);

TEST(kernels_elementwise, every_unary_kernel_matches_the_definition_on_every_target) {
  for (const entry& e : unary_simd) {
    const probe p = unary_probe(e, parameters[0]);
    kgtest::on_every_target([&](const char*) { EXPECT_TRUE(sweep(p, unary_flat(e))); });
  }
}

TEST(kernels_elementwise, kernels_with_parameters_match_the_definition_on_every_target) {
  for (const entry& e : parametric_simd) {
    for (const auto& params : parameters) {
      if (std::string_view(e.op) != "ClipByValue" && std::isnan(params[0])) continue;
      const probe p = unary_probe(e, params);
      kgtest::on_every_target([&](const char*) { EXPECT_TRUE(sweep(p, unary_run(e, params[0], params[1]))); });
    }
  }
}

TEST(kernels_elementwise, every_binary_kernel_matches_the_definition_on_every_target) {
  for (const entry& e : binary_simd) {
    const probe p = binary_probe(e);
    kgtest::on_every_target([&](const char*) { EXPECT_TRUE(sweep(p, binary_flat(e))); });
  }
}

TEST(kernels_elementwise, the_reference_kernels_match_the_definition) {
  for (const entry& e : joined(reference::unary_reference, reference::parametric_reference)) {
    probe p = unary_probe(e, parameters[0]);
    p.ulps = std::min(p.ulps, 1.0);
    EXPECT_TRUE(sweep(p, unary_run(e, parameters[0][0], parameters[0][1])));
  }
  for (const entry& e : reference::binary_reference) {
    probe p = binary_probe(e);
    p.ulps = std::min(p.ulps, 1.0);
    EXPECT_TRUE(sweep(p, binary_flat(e)));
  }
}

TEST(kernels_elementwise, the_output_may_be_an_input) {
  for (const entry& e : one_operand) {
    const probe p = unary_probe(e, parameters[0]);
    if (p.out != e.type) continue;
    const call in_place = [&e](const void* const* in, void* out, std::size_t n) {
      if (n != 0) std::memcpy(out, in[0], n * kgtest::size_of(e.type));
      unary_run(e, parameters[0][0], parameters[0][1])(&out, out, n);
    };
    kgtest::on_every_target([&](const char*) { EXPECT_TRUE(sweep(p, in_place)); });
  }
  for (const entry& e : binary_simd) {
    const probe p = binary_probe(e);
    if (p.out != e.type) continue;
    for (const int which : {0, 1}) {
      kgtest::on_every_target([&](const char*) { EXPECT_TRUE(sweep(p, binary_in_place(e, which))); });
    }
  }
}

TEST(kernels_elementwise, every_unary_kernel_can_be_called_through_run) {
  for (const entry& e : one_operand) {
    ASSERT_NE(e.run, nullptr) << e.op;
    const probe p = unary_probe(e, parameters[0]);
    guarded_run run(p);
    EXPECT_TRUE(run(unary_run(e, parameters[0][0], parameters[0][1]), 0, 100, {}, kgtest::edge::end));
  }
}

// Strides of operands broadcast to dims: an axis of stride 0 is repeated. Elements of an operand are contiguous.
struct broadcast_case {
  std::vector<std::int64_t> dims;
  std::vector<std::vector<int>> present;  // per operand and axis: whether it moves
};
const broadcast_case broadcasts[] = {
    {{67}, {{1}, {1}, {1}}},
    {{131}, {{1}, {0}, {1}}},
    {{131}, {{0}, {1}, {0}}},
    {{70}, {{0}, {0}, {1}}},
    {{70}, {{0}, {0}, {0}}},
    {{1}, {{0}, {1}, {0}}},
    {{5, 33}, {{1, 1}, {0, 1}, {1, 0}}},
    {{7, 3}, {{1, 0}, {0, 1}, {1, 1}}},
    {{2, 3, 4, 19}, {{1, 0, 1, 0}, {0, 1, 1, 1}, {1, 1, 0, 1}}},
    {{3, 2, 1, 5}, {{1, 1, 0, 1}, {0, 0, 0, 0}, {1, 0, 0, 1}}},
    {{2, 2, 1, 2, 1, 2, 2, 3}, {{1, 0, 0, 1, 0, 1, 0, 1}, {0, 1, 0, 1, 0, 0, 1, 1}, {1, 1, 0, 0, 0, 1, 1, 0}}},
    {{0}, {{1}, {0}, {1}}},
    {{4, 0}, {{1, 1}, {1, 0}, {0, 1}}},
    {{0, 4}, {{1, 1}, {0, 1}, {1, 0}}},
};

broadcast_geometry geometry_of(const broadcast_case& c, std::size_t operands, std::int64_t* lengths) {
  broadcast_geometry g{};
  g.rank = static_cast<int>(c.dims.size());
  std::copy(c.dims.begin(), c.dims.end(), g.dims);
  for (std::size_t k = 0; k < operands; ++k) {
    std::int64_t step = 1;
    for (int axis = g.rank - 1; axis >= 0; --axis) {
      const bool moves = c.present[k][static_cast<std::size_t>(axis)] != 0;
      g.strides[k][axis] = moves ? step : 0;
      if (moves) step *= g.dims[axis];
    }
    lengths[k] = step;
  }
  return g;
}

// The elements that each output element is made of, by counting coordinates.
std::vector<std::vector<std::size_t>> walk(const broadcast_geometry& g, std::size_t operands) {
  std::vector<std::vector<std::size_t>> result;
  std::function<void(int, std::vector<std::int64_t>)> descend = [&](int axis, std::vector<std::int64_t> at) {
    if (axis == g.rank) return void(result.emplace_back(at.begin(), at.end()));
    for (std::int64_t i = 0; i < g.dims[axis]; ++i) {
      std::vector<std::int64_t> next = at;
      for (std::size_t k = 0; k < operands; ++k) next[k] += i * g.strides[k][axis];
      descend(axis + 1, next);
    }
  };
  descend(0, std::vector<std::int64_t>(operands));
  return result;
}

// Calls the entry for a broadcast of columns that end at guard pages; compares with expect(indices).
template <class Expect>
void check_broadcast(const entry& e, const broadcast_case& c, const std::vector<dtype>& types, dtype out, double ulps,
                     const std::vector<column>& data, Expect expect) {
  std::int64_t lengths[3] = {};
  const broadcast_geometry g = geometry_of(c, types.size(), lengths);
  const auto indices = walk(g, types.size());
  std::vector<std::unique_ptr<kgtest::guarded<std::byte>>> operands;
  std::vector<const void*> in;
  for (std::size_t k = 0; k < types.size(); ++k) {
    const std::size_t bytes = static_cast<std::size_t>(lengths[k]) * kgtest::size_of(types[k]);
    operands.push_back(std::make_unique<kgtest::guarded<std::byte>>(bytes));
    if (bytes != 0) std::memcpy(operands.back()->data(), data[k].data(), bytes);
    in.push_back(operands.back()->data());
  }
  kgtest::guarded<std::byte> y(indices.size() * kgtest::size_of(out));
  void* result = y.data();
  e.run(in.data(), &result, &g);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    ASSERT_TRUE(kgtest::agrees(expect(indices[i]), y.data(), out, i, ulps))
        << name_of(e) << ", element " << i << " of broadcast " << &c - broadcasts;
  }
}

void check_binary_broadcasts(const entry& e) {
  const std::vector<column> data = {random_column(e.type, 4), random_column(e.type, 5)};
  for (const auto& c : broadcasts) {
    check_broadcast(e, c, {e.type, e.type}, kgtest::result_of(e.op, e.type), kgtest::tolerance_of(e.op, e.type), data,
                    [&](const std::vector<std::size_t>& at) {
                      return kgtest::binary_oracle(e.op, e.type, kgtest::read(data[0].data(), e.type, at[0]),
                                                   kgtest::read(data[1].data(), e.type, at[1]));
                    });
  }
}

// A dtype of the same size, integers if there are any, so that every bit counts.
dtype bits_of(dtype type) {
  const std::size_t size = kgtest::size_of(type);
  if (size == 16) return dtype::complex128;  // there is no integer of that size
  return size == 8 ? dtype::int64 : size == 4 ? dtype::int32 : size == 2 ? dtype::float16 : dtype::uint8;
}

void check_select_broadcasts(const entry& e) {
  const dtype bits = bits_of(e.type);
  const std::vector<column> data = {random_column(dtype::boolean, 6), random_column(bits, 7), random_column(bits, 8)};
  for (const auto& c : broadcasts) {
    check_broadcast(e, c, {dtype::boolean, bits, bits}, bits, 0, data, [&](const std::vector<std::size_t>& at) {
      const std::size_t chosen = kgtest::read(data[0].data(), dtype::boolean, at[0]).whole != 0 ? 1 : 2;
      return kgtest::read(data[chosen].data(), bits, at[chosen]);
    });
  }
}

TEST(kernels_elementwise, broadcasts_walk_the_operands_as_their_strides_say) {
  kgtest::on_every_target([](const char*) {
    for (const entry& e : binary_simd) check_binary_broadcasts(e);
  });
  for (const entry& e : reference::binary_reference) check_binary_broadcasts(e);
}

TEST(kernels_elementwise, select_copies_bit_by_bit_and_broadcasts_three_operands) {
  kgtest::on_every_target([](const char*) {
    for (const entry& e : select_simd) check_select_broadcasts(e);
  });
  for (const entry& e : reference::select_reference) check_select_broadcasts(e);
}

TEST(kernels_elementwise, select_handles_every_length_offset_and_its_own_output) {
  for (const entry& e : select_simd) {
    const dtype bits = bits_of(e.type);
    probe p{name_of(e), {bits, bits, dtype::boolean}, bits, {}, {}, 0};
    p.data = {random_column(bits, 9), random_column(bits, 10), random_column(dtype::boolean, 11)};
    for (std::size_t i = 0; i < column_size; ++i) {
      const bool first = kgtest::read(p.data[2].data(), dtype::boolean, i).whole != 0;
      p.expected.push_back(kgtest::read(p.data[first ? 0 : 1].data(), bits, i));
    }
    for (const int alias : {-1, 0, 1}) {
      const call select = [&](const void* const* in, void* out, std::size_t n) {
        if (alias >= 0 && n != 0) std::memcpy(out, in[alias], n * kgtest::size_of(bits));
        const void* operands[] = {in[2], alias == 0 ? out : in[0], alias == 1 ? out : in[1]};
        const broadcast_geometry g{1, {static_cast<std::int64_t>(n)}, {{1}, {1}, {1}}};
        e.run(operands, &out, &g);
      };
      kgtest::on_every_target([&](const char*) { EXPECT_TRUE(sweep(p, select)); });
    }
  }
}

void check_casts(const entry& e, bool every_target) {
  for (int t = 0; t < kerngrad::dtype_count; ++t) {
    const dtype to = static_cast<dtype>(t);
    if (to == dtype::text) continue;
    const std::string name = name_of(e) + " to " + std::to_string(static_cast<int>(to));
    probe p{name, {e.type}, to, {random_column(e.type, 12)}, {}, 0};
    for (std::size_t i = 0; i < column_size; ++i) {
      p.expected.push_back(kgtest::cast_oracle(e.type, to, kgtest::read(p.data[0].data(), e.type, i)));
    }
    const call cast = [&e, to](const void* const* in, void* out, std::size_t n) {
      const cast_geometry g{static_cast<std::int64_t>(n), to};
      e.run(in, &out, &g);
    };
    if (every_target) kgtest::on_every_target([&](const char*) { EXPECT_TRUE(sweep(p, cast)); });
    else EXPECT_TRUE(sweep(p, cast));
  }
}

void check_complex_parts(const entry& e, bool every_target) {
  const std::string_view op = e.op;
  probe p{name_of(e), {e.type}, kgtest::result_of(op, e.type), {random_column(e.type, 13)}, {}, 0};
  p.ulps = kgtest::tolerance_of(op, e.type);
  if (op == "Complex") p.in.push_back(e.type), p.data.push_back(random_column(e.type, 14));
  if (op == "ComplexAbs") {
    // Any two floats: magnitudes that would overflow or vanish when squared, infinities and NaN.
    const dtype part = kgtest::result_of(op, e.type);
    const std::size_t bytes = kerngrad::trait_of(part).size;
    const column re = random_column(part, 15), im = random_column(part, 16);
    for (std::size_t i = 0; i < column_size; ++i) {
      std::memcpy(p.data[0].data() + 2 * bytes * i, re.data() + bytes * i, bytes);
      std::memcpy(p.data[0].data() + 2 * bytes * i + bytes, im.data() + bytes * i, bytes);
    }
  }
  for (std::size_t i = 0; i < column_size; ++i) {
    const scalar x = kgtest::read(p.data[0].data(), e.type, i);
    if (op == "Real") p.expected.push_back({x.real});
    if (op == "Imag") p.expected.push_back({x.imag});
    if (op == "ComplexAbs") p.expected.push_back({std::hypot(x.real, x.imag)});
    if (op == "Complex") p.expected.push_back({x.real, kgtest::read(p.data[1].data(), e.type, i).real});
  }
  const call kernel = [&e](const void* const* in, void* out, std::size_t n) {
    const convert_geometry g{static_cast<std::int64_t>(n)};
    e.run(in, &out, &g);
  };
  if (every_target) kgtest::on_every_target([&](const char*) { EXPECT_TRUE(sweep(p, kernel)); });
  else EXPECT_TRUE(sweep(p, kernel));
}

TEST(kernels_elementwise, casts_follow_the_rules_between_all_dtypes) {
  for (const entry& e : convert_simd) {
    if (std::string_view(e.op) == "Cast") check_casts(e, true);
  }
  for (const entry& e : reference::convert_reference) {
    if (std::string_view(e.op) == "Cast") check_casts(e, false);
  }
}

TEST(kernels_elementwise, a_long_complex_array_is_cast_element_by_element) {
  kgtest::on_every_target([](const char*) {
    std::vector<std::int32_t> x(1300), y(1300);
    std::vector<float> z(2600);
    for (std::size_t i = 0; i < 1300; ++i) x[i] = static_cast<std::int32_t>(i);
    const void *ints[] = {x.data()}, *pairs[] = {z.data()};
    void *to_pairs[] = {z.data()}, *to_ints[] = {y.data()};
    const cast_geometry there{1300, dtype::complex64}, back{1300, dtype::int32};
    Cast_int32(ints, to_pairs, &there);
    Cast_complex64(pairs, to_ints, &back);
    EXPECT_EQ(x, y);
  });
}

TEST(kernels_elementwise, complex_numbers_are_taken_apart_and_put_together) {
  for (const entry& e : convert_simd) {
    if (std::string_view(e.op) != "Cast") check_complex_parts(e, true);
  }
  for (const entry& e : reference::convert_reference) {
    if (std::string_view(e.op) != "Cast") check_complex_parts(e, false);
  }
}

template <std::size_t n, std::size_t m>
void expect_same_rows(const entry (&simd)[n], const entry (&reference)[m]) {
  std::set<std::pair<std::string, dtype>> left, right;
  for (const entry& e : simd) left.emplace(e.op, e.type);
  for (const entry& e : reference) right.emplace(e.op, e.type);
  EXPECT_EQ(left, right);
  EXPECT_EQ(left.size(), n) << "a row is listed twice";
}

TEST(kernels_elementwise, every_kernel_has_a_reference_of_the_same_op_and_dtype_and_the_reverse) {
  expect_same_rows(unary_simd, reference::unary_reference);
  expect_same_rows(parametric_simd, reference::parametric_reference);
  expect_same_rows(binary_simd, reference::binary_reference);
  expect_same_rows(select_simd, reference::select_reference);
  expect_same_rows(convert_simd, reference::convert_reference);
}

TEST(kernels_elementwise, the_check_itself_notices_a_wrong_element_a_stray_byte_and_a_dependence_on_the_offset) {
  static constexpr const entry& e = binary_simd[0];
  const probe p = binary_probe(e);
  guarded_run run(p);
  const call wrong = [](const void* const* in, void* out, std::size_t n) {
    e.flat2(in[0], in[1], out, n);
    static_cast<std::byte*>(out)[4 * (n - 1)] ^= std::byte{1};
  };
  const call stray = [](const void* const* in, void* out, std::size_t n) {
    e.flat2(in[0], in[1], out, n);
    static_cast<std::byte*>(out)[4 * n] = std::byte{0};
  };
  const call crooked = [](const void* const* in, void* out, std::size_t n) {
    e.flat2(in[0], in[1], out, n);
    if (reinterpret_cast<std::uintptr_t>(out) % 64 == 52) static_cast<std::byte*>(out)[0] ^= std::byte{1};
  };
  ::testing::TestPartResultArray failures;
  {
    ::testing::ScopedFakeTestPartResultReporter quiet(
        ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &failures);
    EXPECT_FALSE(run(wrong, 3, 17, {{1}, 1}, kgtest::edge::begin));
    EXPECT_FALSE(run(stray, 3, 17, {{1}, 1}, kgtest::edge::begin));
    EXPECT_FALSE(sweep(p, crooked));
  }
  EXPECT_EQ(failures.size(), 3);
}

}  // namespace
