// SPDX-License-Identifier: Apache-2.0
// Values for samples: in the op's domain, away from kinks, the same at every run; and comparisons of bits.
module;
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/sizes.h"
module kerngrad.testkit;

namespace kerngrad::testkit {

std::uint64_t stream::bits() {
  state_ += 0x9e3779b97f4a7c15u;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

namespace {

template <class T>
tensor converted(const std::vector<double>& values, const shape& dims) {
  std::vector<T> all;
  for (double v : values) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      all.push_back(static_cast<T>(attr_value(v).as_integer()));  // defined for NaN and large numbers, too
    else all.push_back(static_cast<T>(v));
  }
  return tensor(all, dims);
}

}  // namespace

tensor from_doubles(const std::vector<double>& values, const shape& dims, dtype type) {
  return visit(type, [&]<dtype Type>(dtype_constant<Type> is) {
    using T = typename decltype(is)::element;
    if constexpr (Type == dtype::text) {
      std::vector<std::string> texts;
      for (double v : values) texts.push_back(v == 0 ? "" : detail::text_of(v));
      return tensor(texts, dims);
    } else if constexpr (kerngrad::parts_of(Type) == 1) {
      return converted<T>(values, dims);
    } else {
      using part = decltype(T::real);
      std::vector<T> pairs;
      for (std::size_t i = 0; i + 1 < values.size(); i += 2)
        pairs.push_back({static_cast<part>(values[i]), static_cast<part>(values[i + 1])});
      return tensor(pairs, dims);
    }
  });
}

std::vector<double> doubles_of(const tensor& x) {
  return visit(x.type(), [&]<dtype Type>(dtype_constant<Type> is) {
    using T = typename decltype(is)::element;
    if constexpr (Type == dtype::text) {
      std::vector<double> values;
      for (const std::string& number : x.to_texts()) values.push_back(std::strtod(number.c_str(), nullptr));
      return values;
    } else if constexpr (kerngrad::parts_of(Type) == 1) {
      return x.to_doubles();
    } else {
      std::vector<double> values;
      for (const T& z : x.data<T>()) values.insert(values.end(), {z.real, z.imag});
      return values;
    }
  });
}

namespace {

operand_range range_of(const op_row& row, std::size_t operand, std::string_view name,
                       std::span<const operand_range> ranges) {
  for (const operand_range& r : ranges)
    if (r.operand == name) return r;
  const interval& in = operand ? row.domain.others : row.domain.first;
  return {"", in.low, in.high};
}

// Keeps away from the points where ops have kinks: the multiples of a half, the values of other operands, and, where
// the order of elements matters, each other.
std::vector<double> smooth_values(const operand_range& in, std::size_t count, std::size_t operand, bool distinct,
                                  stream& draw) {
  std::vector<double> values;
  if (distinct) {
    for (std::size_t i = 0; i < count; ++i)
      values.push_back(in.low + (in.high - in.low) * (static_cast<double>(i) + 0.5) / static_cast<double>(count));
    for (std::size_t i = count; i > 1; --i) std::swap(values[i - 1], values[draw.below(i)]);
    return values;
  }
  const auto cells = static_cast<std::uint64_t>(std::max(1L, std::lround((in.high - in.low) * 2)));
  const double width = (in.high - in.low) / static_cast<double>(cells);
  const double band = 0.14 + 0.36 * static_cast<double>(operand % 2);  // of a cell: 0.14 to 0.38 or 0.5 to 0.74
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(in.low + width * (static_cast<double>(draw.below(cells)) + band + 0.24 * draw.unit()));
  return values;
}

tensor values_for(const op_row& row, std::size_t operand, const shape& dims, dtype type, const operand_range& in,
                  stream& draw) {
  const std::size_t count = kernels::extent(dims.size(), parts_of(type));
  std::vector<double> values = smooth_values(in, count, operand, row.kinks == kink::ties, draw);
  for (double& v : values) {
    if (integral.has(type)) v = std::nearbyint(v * 4);
    if (integral.has(type) && !is_signed_integer(type)) v = std::fabs(v) * 9;
    if (type == dtype::boolean) v = v > 0.6;
  }
  return from_doubles(values, dims, type);
}

const operand& spec_named(const op_row& row, std::string_view name) {
  const int at = name.empty() && row.operands.size() == 1 ? 0 : row.operand_index(name);
  if (at < 0) fail("check_op", "a sample with operand " + std::string(name), "operands of " + std::string(row.name));
  return row.operands[static_cast<std::size_t>(at)];
}

}  // namespace

std::vector<tensor> fixed_tensors(const sample_operand& given) {
  if (given.dims.size() == 1) return {given.values};
  std::vector<tensor> list;
  std::int64_t begin = 0;
  for (const shape& dims : given.dims) {
    list.push_back(reshape(slice(given.values, {begin}, {dims.size()}), dims));
    begin += dims.size();
  }
  return list;
}

std::vector<named_operand> operands_for(const op_row& row, const sample& call, dtype type, std::uint64_t seed,
                                        std::span<const operand_range> ranges) {
  stream draw(seed);
  std::vector<named_operand> operands;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const sample_operand& given = call.operands[i];
    const operand& spec = spec_named(row, given.name);
    const dtype taken = detail::accepted_dtype(spec, type);
    if (given.values.defined()) {
      std::vector<tensor> list = fixed_tensors(given);
      for (tensor& x : list)
        if (floating.has(x.type()) && floating.has(taken)) x = cast(x, taken);
      operands.emplace_back(given.name, std::move(list));
    } else if (!row.forward.empty() && given.name == "output") {  // the result for the operand before it
      const std::vector<named_operand> image = {operands.back().tensors[0]};
      operands.emplace_back(given.name, run_kernel_list(row.forward, image, call.attrs).front());
    } else {
      std::vector<tensor> list;
      for (const shape& dims : given.dims)
        list.push_back(values_for(row, i, dims, taken, range_of(row, i, given.name, ranges), draw));
      if (spec.list) operands.emplace_back(given.name, list);
      else operands.emplace_back(given.name, list[0]);
    }
  }
  return operands;
}

std::vector<named_attribute> attributes_for(const op_row& row, const sample& call, dtype type) {
  std::vector<named_attribute> attrs = call.attrs;
  if (type != dtype::text) return attrs;
  for (named_attribute& a : attrs) {
    const int index = row.attr_index(a.name);
    if (index >= 0 && row.attrs[static_cast<std::size_t>(index)].or_text && a.value.kind() != attr_kind::text &&
        a.value.as_number() != 0)
      a.value = std::string_view(detail::text_of(a.value.as_number()));
  }
  return attrs;
}

namespace detail {

bool is_known(const op_row& row) { return find_op(row.name) >= 0; }

dtype accepted_dtype(const operand& spec, dtype wanted) {
  for (int t = 0; !spec.types.has(wanted) && t < dtype_count; ++t) wanted = static_cast<dtype>(t);
  return wanted;
}

std::vector<dtype> taken_dtypes(const op_row& row, dtype_set among) {
  std::vector<dtype> all;
  for (int t = 0; t < dtype_count; ++t) {
    const dtype type = static_cast<dtype>(t);
    bool taken = row.operands.empty() && type == dtype::float32;
    for (const operand& o : row.operands) taken = taken || o.types.has(type);
    if (taken && among.has(type)) all.push_back(type);
  }
  return all;
}

dtype precise_dtype(const op_row& row, dtype_set among) {
  bool any = false;
  for (const operand& spec : row.operands) any = any || spec.part == role::value;
  for (dtype type : {dtype::float64, dtype::float32, dtype::complex64})
    for (const operand& spec : row.operands)
      if ((spec.part == role::value || !any) && spec.types.has(type) && among.has(type)) return type;
  return dtype::float32;
}

bool same_bits(const tensor& a, const tensor& b) {
  if (a.defined() != b.defined()) return false;
  if (!a.defined()) return true;
  if (a.type() == dtype::text && b.type() == dtype::text) return a.dims() == b.dims() && a.to_texts() == b.to_texts();
  return a.signature() == b.signature() &&
         (a.size() == 0 ||
          std::memcmp(a.address(), b.address(), static_cast<std::size_t>(a.size()) * size_of(a.type())) == 0);
}
bool same_bits(const tensor_list& a, const tensor_list& b) {
  if (a.size() != b.size()) return false;
  for (int k = 0; k < a.size(); ++k)
    if (!same_bits(a[k], b[k])) return false;
  return true;
}

tensor copy_of(const tensor& x) {
  if (!x.defined()) return x;
  return visit(x.type(), [&](auto is) { return tensor(x.data<typename decltype(is)::element>(), x.dims()); });
}

std::vector<named_operand> copies_of(std::span<const named_operand> operands) {
  std::vector<named_operand> copies;
  for (const named_operand& o : operands) {
    std::vector<tensor> list;
    for (const tensor& x : o.tensors) list.push_back(copy_of(x));
    copies.emplace_back(o.name, std::move(list));
  }
  return copies;
}

float_range range_of_floats(dtype type) {
  return visit_number(type, []<dtype Type>(dtype_constant<Type>) -> float_range {
    using part = kernels::part_t<Type>;
    const auto of = [](int digits, int max_exponent) -> float_range {
      return {std::ldexp(1.0, 1 - digits), std::ldexp(1.0, 2 - max_exponent),
              std::ldexp(2 - std::ldexp(1.0, 1 - digits), max_exponent - 1)};
    };
    if constexpr (kind_of(Type) == dtype_kind::half) return of(part::digits, part::max_exponent);
    else return of(std::numeric_limits<part>::digits, std::numeric_limits<part>::max_exponent);
  });
}

std::string text_of(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

void poison(const tensor_list& like) {
  std::vector<tensor> blocks;
  for (int k = 0; k < like.size(); ++k)
    for (int copy = 0; copy < 3; ++copy)  // operands that are cast on the way take blocks of the same size
      blocks.push_back(tensor::build<std::uint8_t>(
          {like[k].size() * static_cast<std::int64_t>(size_of(like[k].type()))},
          [](std::span<std::uint8_t> bytes) { std::fill(bytes.begin(), bytes.end(), std::uint8_t{0xff}); }));
}

}  // namespace detail
}  // namespace kerngrad::testkit
