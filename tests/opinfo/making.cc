// SPDX-License-Identifier: Apache-2.0
// Calls that make tensors: ops of PyTorch with attributes, which the dictionary has no line for.
#include "tests/opinfo/sample.h"

namespace opinfo {

namespace {

using in = const sample&;

kg::shape dims_of(in s, int place) { return kg::shape(s.rest(place)); }

// Numbers of one range, in the dtype that is asked for or else in float32.
results range_of(in s) {
  const bool alone = s.count() < 2 && !s.has("end") && !s.has("start");
  const double start = alone ? 0 : s.number("start", 0, 0), stop = s.number("end", alone ? 0 : 1);
  return list_of(kg::arange(start, stop, s.number("step", 2, 1), s.type("dtype", -1, kg::dtype::float32)));
}

kg::tensor evenly(in s) {
  const auto steps = s.whole("steps", 2);
  return kg::linspace(s.number("start", 0), s.number("end", 1), steps, kg::dtype::float64);
}

results diagonal_matrix(in s) {
  const kg::tensor x = s.x();
  const std::int64_t offset = s.whole("diagonal", 1, 0);
  if (x.rank() == 0 || x.rank() > 2) throw skip{"the diagonal of other than a vector or a matrix"};
  if (x.rank() == 2) return list_of(kg::diagonal(x, offset));
  if (offset != 0) throw skip{"a matrix of another diagonal than the main one"};
  return list_of(kg::diag(x));
}

template <kg::dtype To>
results in_dtype(in s) {
  s.has("memory_format", 1);
  return list_of(kg::cast(s.x(), To));
}

kg::tensor grid_of_indices(in s, bool lower) {
  const std::int64_t rows = s.whole("row", 0), columns = s.whole("col", 1), offset = s.whole("offset", 2, 0);
  const kg::tensor ones = kg::ones({rows, columns});
  return kg::transpose(kg::nonzero(lower ? kg::tril(ones, offset) : kg::triu(ones, offset)));
}

constexpr call_line lines[] = {
    {"making", "arange", range_of},
    {"making", "linspace", [](in s) { return list_of(s.typed(evenly(s))); }},
    {"making", "logspace", [](in s) { return list_of(s.typed(kg::pow(s.number("base", 3, 10), evenly(s)))); }},
    {"making", "eye",
     [](in s) {
       return list_of(kg::eye(s.whole("n", 0), s.has("m", 1) ? std::optional(s.whole("m", 1)) : std::nullopt, 0,
                              s.type("dtype", -1, kg::dtype::float32)));
     }},
    {"making", "zeros", [](in s) { return list_of(kg::zeros(dims_of(s, 0), s.type("dtype", -1, s.own_type()))); }},
    {"making", "ones", [](in s) { return list_of(kg::ones(dims_of(s, 0), s.type("dtype", -1, s.own_type()))); }},
    {"making", "new_zeros", [](in s) { return list_of(kg::zeros(dims_of(s, 1), s.type("dtype", -1, s.x().type()))); }},
    {"making", "new_ones", [](in s) { return list_of(kg::ones(dims_of(s, 1), s.type("dtype", -1, s.x().type()))); }},
    {"making", "new_full",
     [](in s) {
       return list_of(kg::full(kg::shape(s.list("", 1)), s.number("fill_value", 2), s.type("dtype", -1, s.x().type())));
     }},
    {"making", "zeros_like", [](in s) { return list_of(kg::zeros_like(s.typed(s.x()))); }},
    {"making", "zero_", [](in s) { return list_of(kg::zeros_like(s.x())); }},
    {"making", "ones_like", [](in s) { return list_of(kg::ones_like(s.typed(s.x()))); }},
    {"making", "full_like",
     [](in s) { return list_of(kg::full_like(s.x(), s.number("fill_value", 1), s.type("dtype", -1, s.x().type()))); }},
    {"making", "fill", [](in s) { return list_of(kg::full_like(s.x(), s.number("value", 1))); }},
    {"making", "diag", diagonal_matrix},
    {"making", "diagflat",
     [](in s) {
       if (s.whole("offset", 1, 0) != 0) throw skip{"a matrix of another diagonal than the main one"};
       return list_of(kg::diag(kg::ravel(s.x())));
     }},
    {"making", "diag_embed",
     [](in s) {
       const kg::tensor x = s.x();
       if (x.rank() == 0) throw skip{"a matrix of a scalar"};
       const kg::tensor zero = kg::zeros_like(kg::expand_dims(x, -1));
       return list_of(kg::where(kg::eye(x.dims()[x.rank() - 1]) != 0, kg::expand_dims(x, -1), zero));
     }},
    {"making", "tril_indices", [](in s) { return list_of(grid_of_indices(s, true)); }},
    {"making", "triu_indices", [](in s) { return list_of(grid_of_indices(s, false)); }},
    {"making", "meshgrid",
     [](in s) {
       const bool xy = s.text("indexing", -1, "ij") == "xy";
       std::vector<kg::tensor> vectors;
       for (const kg::tensor& x : s.all_tensors()) vectors.push_back(kg::ravel(x));
       return list_of(kg::meshgrid(vectors, xy ? kg::indexing::xy : kg::indexing::ij));
     }},
    {"making", "linalg.vander",
     [](in s) {
       const kg::tensor x = s.x();
       if (x.rank() == 0) throw skip{"powers of a scalar"};
       const std::int64_t powers = s.whole("N", 1, x.dims()[x.rank() - 1]);
       return list_of(kg::pow(kg::expand_dims(x, -1), kg::cast(kg::arange(powers), x.type())));
     }},
    {"making", "nn.functional.one_hot",
     [](in s) { return list_of(kg::one_hot(s.x(), s.whole("num_classes", 1), 1, 0, kg::dtype::int64)); }},
    {"making", "complex", [](in s) { return list_of(kg::complex(s.x(), s.x(1))); }},
    {"making", "polar", [](in s) { return list_of(kg::complex(s.x() * kg::cos(s.x(1)), s.x() * kg::sin(s.x(1)))); }},
    {"making", "view_as_real", [](in s) { return list_of(kg::stack({kg::real(s.x()), kg::imag(s.x())}, -1)); }},
    {"making", "view_as_complex",
     [](in s) { return list_of(kg::complex(s.x()(kg::ellipsis, 0), s.x()(kg::ellipsis, 1))); }},
    {"making", "to",
     [](in s) {
       const kg::tensor x = s.x();
       for (int place = 1; place < s.count(); ++place) s.has("", place);
       for (const char* name : {"device", "memory_format", "copy", "non_blocking"}) s.has(name);
       if (s.has("other", 1) && s.raw("other", 1).is_object() && s.raw("other", 1).contains("tensor"))
         return list_of(kg::cast(x, s.x(1).type()));
       for (int place = 1; place < s.count(); ++place)
         if (s.has("", place) && s.raw("", place).is_object()) return list_of(kg::cast(x, s.type("", place, x.type())));
       return list_of(s.typed(x));
     }},
    {"making", "bfloat16", in_dtype<kg::dtype::bfloat16>},
    {"making", "bool", in_dtype<kg::dtype::boolean>},
    {"making", "byte", in_dtype<kg::dtype::uint8>},
    {"making", "double", in_dtype<kg::dtype::float64>},
    {"making", "float", in_dtype<kg::dtype::float32>},
    {"making", "half", in_dtype<kg::dtype::float16>},
    {"making", "int", in_dtype<kg::dtype::int32>},
    {"making", "long", in_dtype<kg::dtype::int64>},
};

}  // namespace

std::span<const call_line> making_calls() { return lines; }

}  // namespace opinfo
