// SPDX-License-Identifier: Apache-2.0
// Calls to measure kernels with, one maker per calling convention: a new op of a known one is measured without a word
// here, and one of a new one does not compile (bench/recorded/calls.h).
// To be included after `import kerngrad; import kerngrad.testkit;`.
#pragma once
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kgbench {

/// A call that has a kernel work on about n elements.
struct geometry {
  std::string variant;  ///< tells calls of one op apart: "rows", "to:f32"; empty where there is one
  kg::testkit::sample call;
  double work = 0;                  ///< how many times the operations are done that the row states as its cost
  std::vector<std::string> unread;  ///< operands of which only the shape counts
};
using geometries = std::vector<geometry>;
/// Makes the calls for an op, the dtype that its kernel computes in, and n.
using geometry_fn = geometries (*)(const kg::op_row& row, kg::dtype type, std::int64_t n);

/// "f32", "i64", ...: as the names of the benchmarks have them.
inline std::string short_name(kg::dtype type) {
  constexpr const char* kinds[] = {"bool", "i", "f", "f", "c", "text"};  // in the order of dtype_kind
  const kg::dtype_kind kind = kg::kind_of(type);
  if (kind == kg::dtype_kind::boolean || kind == kg::dtype_kind::text) return std::string(kg::name_of(type));
  const bool counts = kind == kg::dtype_kind::integer && !kg::is_signed_integer(type);
  const std::string letter = type == kg::dtype::bfloat16 ? "bf" : counts ? "u" : kinds[static_cast<int>(kind)];
  return letter + std::to_string(8 * kg::size_of(type));
}

/// A matrix of about n elements, with rows of 1024 where there are that many.
struct matrix {
  std::int64_t rows, columns;
  explicit matrix(std::int64_t n) : rows(n > 1024 ? n / 1024 : 1), columns(n > 1024 ? 1024 : n) {}
  kg::shape dims() const { return {rows, columns}; }
};

/// The operands of a row with these shapes, by position.
inline kg::testkit::sample call_of(const kg::op_row& row, const std::vector<kg::shape>& dims,
                                   std::vector<kg::named_attribute> attrs = {}) {
  kg::testkit::sample call;
  for (std::size_t i = 0; i < dims.size(); ++i) call.operands.emplace_back(row.operands[i].name, dims[i]);
  call.attrs = std::move(attrs);
  return call;
}

// bench/elementwise.cc
geometries flat(const kg::op_row&, kg::dtype, std::int64_t n);       ///< all operands [n]
geometries flat_list(const kg::op_row&, kg::dtype, std::int64_t n);  ///< a list of three
geometries cast(const kg::op_row&, kg::dtype, std::int64_t n);       ///< to a dtype as wide, a wider and a narrower one

// bench/reduce.cc
geometries reduction(const kg::op_row&, kg::dtype, std::int64_t n);  ///< of everything, of rows, of columns
geometries rows(const kg::op_row&, kg::dtype, std::int64_t n);       ///< along the last axis
geometries scanned(const kg::op_row&, kg::dtype, std::int64_t n);    ///< along the last axis, the only and the first

// bench/matmul.cc
geometries product(const kg::op_row&, kg::dtype, std::int64_t n);      ///< square, the result has n elements
geometries contraction(const kg::op_row&, kg::dtype, std::int64_t n);  ///< that product, and one with copies

// bench/window.cc
geometries convolution(const kg::op_row&, kg::dtype, std::int64_t n);  ///< 3x3, "same", up to 64 channels
geometries pooling(const kg::op_row&, kg::dtype, std::int64_t n);      ///< 2x2, stride 2, up to 64 channels
geometries dilated(const kg::op_row&, kg::dtype, std::int64_t n);      ///< 3x3, "same", up to 64 channels
geometries dilated_of_filters(const kg::op_row&, kg::dtype,
                              std::int64_t n);  ///< the same for sources that are as large as the filter

// bench/sparse.cc
geometries rows_filled(const kg::op_row&, kg::dtype, std::int64_t n);       ///< every second row is empty
geometries indices_reshaped(const kg::op_row&, kg::dtype, std::int64_t n);  ///< from two axes to three
geometries sparse_segments(const kg::op_row&, kg::dtype, std::int64_t n);   ///< four rows each, of 1 and of 64 elements
geometries embedding_bags(const kg::op_row&, kg::dtype, std::int64_t n);    ///< sums of four rows, of 1 and of 64
geometries ranges_of_rows(const kg::op_row&, kg::dtype, std::int64_t n);    ///< rows of 16
geometries ragged_rows(const kg::op_row&, kg::dtype, std::int64_t n);       ///< rows of about 4 values, of 1 and of 64
geometries ragged_padded(const kg::op_row&, kg::dtype, std::int64_t n);     ///< rows of about 4 values, to 8

// bench/image.cc
geometries resized(const kg::op_row&, kg::dtype, std::int64_t n);      ///< to twice the size, 3 and 64 channels
geometries cropped(const kg::op_row&, kg::dtype, std::int64_t n);      ///< four boxes at the image's size, 3 channels
geometries transformed(const kg::op_row&, kg::dtype, std::int64_t n);  ///< turned a little, 3 channels
geometries turned(const kg::op_row&, kg::dtype, std::int64_t n);       ///< by half a radian, 3 channels
geometries scattered_boxes(const kg::op_row&, kg::dtype, std::int64_t n);  ///< at most 1000, some overlap

// bench/move.cc
geometries transposed(const kg::op_row&, kg::dtype, std::int64_t n);
geometries sliced(const kg::op_row&, kg::dtype, std::int64_t n);
geometries joined(const kg::op_row&, kg::dtype, std::int64_t n);  ///< two halves of rows
geometries unpacked(const kg::op_row&, kg::dtype, std::int64_t n);
geometries halved(const kg::op_row&, kg::dtype, std::int64_t n);
geometries padded(const kg::op_row&, kg::dtype, std::int64_t n);
geometries tiled(const kg::op_row&, kg::dtype, std::int64_t n);
geometries broadcast(const kg::op_row&, kg::dtype, std::int64_t n);
geometries reversed(const kg::op_row&, kg::dtype, std::int64_t n);
geometries gathered(const kg::op_row&, kg::dtype, std::int64_t n);
geometries gathered_back(const kg::op_row&, kg::dtype, std::int64_t n);
geometries segments(const kg::op_row&, kg::dtype, std::int64_t n);
geometries one_hot(const kg::op_row&, kg::dtype, std::int64_t n);
geometries strided(const kg::op_row&, kg::dtype, std::int64_t n);  ///< every second column, backwards
geometries strided_back(const kg::op_row&, kg::dtype, std::int64_t n);
geometries repeated(const kg::op_row& row, kg::dtype, std::int64_t n);  ///< the outermost elements, once
geometries mirrored(const kg::op_row&, kg::dtype, std::int64_t n);      ///< a border of one
geometries to_batch(const kg::op_row&, kg::dtype, std::int64_t n);      ///< 2x2, 16 channels
geometries from_batch(const kg::op_row&, kg::dtype, std::int64_t n);    ///< 2x2, 16 channels
geometries from_depth(const kg::op_row&, kg::dtype, std::int64_t n);    ///< 2x2, 16 channels
geometries diagonal(const kg::op_row&, kg::dtype, std::int64_t n);
geometries band(const kg::op_row&, kg::dtype, std::int64_t n);  ///< the lower triangle
geometries gathered_rows(const kg::op_row&, kg::dtype, std::int64_t n);
geometries scattered_rows(const kg::op_row&, kg::dtype, std::int64_t n);
geometries updated_rows(const kg::op_row&, kg::dtype, std::int64_t n);
geometries added_rows(const kg::op_row&, kg::dtype, std::int64_t n);
geometries greatest_of_segments(const kg::op_row&, kg::dtype, std::int64_t n);  ///< four rows each
geometries taken_along_axes(const kg::op_row&, kg::dtype, std::int64_t n);      ///< the last, the first, whole rows
geometries put_along_axes(const kg::op_row&, kg::dtype, std::int64_t n);        ///< the same
geometries densified(const kg::op_row&, kg::dtype, std::int64_t n);             ///< a quarter of the places
geometries two_shapes(const kg::op_row&, kg::dtype, std::int64_t n);
geometries found_places(const kg::op_row&, kg::dtype, std::int64_t n);  ///< half of the elements

// bench/create.cc
geometries filled(const kg::op_row&, kg::dtype, std::int64_t n);
geometries filled_like(const kg::op_row&, kg::dtype, std::int64_t n);
geometries ranged(const kg::op_row&, kg::dtype, std::int64_t n);
geometries spaced(const kg::op_row&, kg::dtype, std::int64_t n);
geometries drawn(const kg::op_row&, kg::dtype, std::int64_t n);
geometries drawn_outcomes(const kg::op_row&, kg::dtype, std::int64_t n);  ///< of 10 and of 1000 outcomes

// bench/norm.cc
geometries batch_normalized(const kg::op_row&, kg::dtype, std::int64_t n);     ///< moments by channel, by element
geometries layer_normalized(const kg::op_row&, kg::dtype, std::int64_t n);     ///< along the last axis
geometries response_normalized(const kg::op_row&, kg::dtype, std::int64_t n);  ///< with a short exponent and another

// bench/attention.cc
geometries attention(const kg::op_row&, kg::dtype, std::int64_t n);  ///< of all keys and of those before

// bench/sort.cc
geometries sorted(const kg::op_row&, kg::dtype, std::int64_t n);    ///< one row, rows, columns
geometries largest(const kg::op_row&, kg::dtype, std::int64_t n);   ///< ten of each row
geometries searched(const kg::op_row&, kg::dtype, std::int64_t n);  ///< in a sequence of 1000
// bench/fft.cc
geometries transformed_rows(const kg::op_row&, kg::dtype, std::int64_t n);  ///< of 1024 and of 1000 points, at most n
// bench/volume.cc
geometries volume_convolution(const kg::op_row&, kg::dtype, std::int64_t n);  ///< 3x3x3, "same", up to 32 channels
geometries volume_pooling(const kg::op_row&, kg::dtype, std::int64_t n);      ///< 2x2x2, stride 2, up to 32 channels
// bench/special.cc
geometries incomplete_betas(const kg::op_row&, kg::dtype, std::int64_t n);

// bench/count.cc
geometries counted(const kg::op_row&, kg::dtype, std::int64_t n);
geometries distinct(const kg::op_row&, kg::dtype, std::int64_t n);

// bench/text.cc: n texts
geometries split_texts(const kg::op_row&, kg::dtype, std::int64_t n);  ///< of four words each
geometries joined_texts(const kg::op_row&, kg::dtype,
                        std::int64_t n);  ///< words in rows of 16, two and three at a time
geometries hashed_texts(const kg::op_row&, kg::dtype, std::int64_t n);  ///< of 8 bytes and of 100

}  // namespace kgbench
