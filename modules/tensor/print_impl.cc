// SPDX-License-Identifier: Apache-2.0
// Tensors as text. The elements that are shown are written first, each by a stream of its own that has the format; what
// is longest among them is the width of the columns.
module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iomanip>
#include <limits>
#include <locale>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/shown.h"
module kerngrad;

namespace kerngrad {

namespace {

// How many of an axis are shown, with so many at either end of a long one; 0: all.
std::int64_t shown_of(std::int64_t size, std::int64_t edge) { return edge && size > 2 * edge ? 2 * edge : size; }

// How many elements are shown. Each row without elements counts as one.
std::int64_t shown(const shape& dims, std::int64_t edge) {
  std::int64_t count = 1;
  for (const std::int64_t size : dims) {
    if (size == 0) break;
    count *= shown_of(size, edge);
  }
  return count;
}

std::int64_t edge_of(const shape& dims) {
  if (shown(dims, 0) <= printed_whole) return 0;
  std::int64_t edge = 3;
  while (edge > 1 && shown(dims, edge) > printed_most) --edge;
  return edge;
}

// In quotes, with escapes for quotes, backslashes and control sequences.
std::string quoted(std::string_view bytes) { return "\"" + kernels::shown(bytes, "\"\\") + "\""; }

// An element as it is written.
struct cell {
  std::string text;
  std::size_t tail = 0;  // what is right of the column of points: a fraction, an exponent
  bool has_column = true;
};

// A number as the stream writes it. NaN has no sign, which CPUs choose as they like.
template <class T>
cell number_cell(T value, std::ostringstream& in) {
  in.str({});
  if constexpr (!std::is_floating_point_v<T>) {
    in << value;
    return {in.str()};
  } else {
    if (std::isnan(value)) return {in.flags() & std::ios::uppercase ? "NAN" : "nan", 0, false};
    in << value;
    std::string text = in.str();
    const char ends[] = {'e', 'E', 'p', 'P', std::use_facet<std::numpunct<char>>(in.getloc()).decimal_point()};
    const std::size_t at = std::min(text.find_first_of(std::string_view(ends, sizeof ends)), text.size());
    const std::size_t tail = std::isfinite(value) ? text.size() - at : 0;
    return {std::move(text), tail, static_cast<bool>(std::isfinite(value))};
  }
}

template <class T>
cell complex_cell(const T& z, std::ostringstream& in) {
  const std::string real = number_cell(z.real, in).text;
  const std::ios::fmtflags before = in.flags();
  in.unsetf(std::ios::showpos);
  const std::string size = number_cell(std::fabs(z.imag), in).text;
  in.flags(before);
  return {real + (std::signbit(z.imag) && !std::isnan(z.imag) ? "-" : "+") + size + "i"};
}

// A byte is a character to a stream. The digits of a negative one are those of its eight bits.
template <class T>
cell byte_cell(T value, std::ostringstream& in) {
  const bool in_bits = (in.flags() & (std::ios::hex | std::ios::oct)) != 0;
  return number_cell(in_bits ? int{static_cast<std::uint8_t>(value)} : int{value}, in);
}

template <dtype Type, class T>
cell cell_of(const T& value, std::ostringstream& in) {
  if constexpr (kind_of(Type) == dtype_kind::text) return {quoted(value)};
  else if constexpr (kind_of(Type) == dtype_kind::boolean) return {value ? "true" : "false"};
  else if constexpr (kind_of(Type) == dtype_kind::complex) return complex_cell(value, in);
  else if constexpr (kind_of(Type) == dtype_kind::half) return number_cell(static_cast<float>(value), in);
  else if constexpr (sizeof(T) == 1) return byte_cell(value, in);
  else return number_cell(value, in);
}

// Calls f with the index of each element that is shown, in order; `inner` elements from `first` on.
template <class F>
void each_shown(const shape& dims, std::int64_t edge, int axis, std::int64_t first, std::int64_t inner, const F& f) {
  if (axis == dims.rank()) return f(static_cast<std::size_t>(first));
  const std::int64_t size = dims[axis], count = shown_of(size, edge);
  if (inner == 0) return;
  inner /= size;
  for (std::int64_t i = 0; i < count; ++i)
    each_shown(dims, edge, axis + 1, first + (count == size || i < edge ? i : size - count + i) * inner, inner, f);
}

std::vector<cell> cells_of(const tensor& x, std::int64_t edge, std::ostringstream& in) {
  std::vector<cell> cells;
  visit(x.type(), [&]<dtype Type>(dtype_constant<Type> is) {
    const auto elements = x.data<typename decltype(is)::element>();
    each_shown(x.dims(), edge, 0, 0, x.size(), [&](std::size_t i) { cells.push_back(cell_of<Type>(elements[i], in)); });
  });
  return cells;
}

// How cells are filled up: all to one width, in columns with their points below each other.
struct alignment {
  bool columns = false, left = false;
  std::size_t least = 0;
  char fill = ' ';
};
void align(std::vector<cell>& cells, const alignment& how) {
  std::size_t width = how.least, head = 0, tail = 0;
  if (how.columns)
    for (const cell& c : cells) {
      if (c.has_column) head = std::max(head, c.text.size() - c.tail), tail = std::max(tail, c.tail);
      else width = std::max(width, c.text.size());
    }
  width = std::max(width, head + tail);
  for (cell& c : cells) {
    if (how.columns && c.has_column && !how.left) c.text.append(tail - c.tail, how.fill);
    if (c.text.size() >= width) continue;
    if (how.left) c.text.append(width - c.text.size(), how.fill);
    else c.text.insert(0, width - c.text.size(), how.fill);
  }
}

void write_axis(std::string& to, const shape& dims, std::int64_t edge, int axis, const cell*& next) {
  if (axis == dims.rank()) {
    to += next++->text;
    return;
  }
  const std::int64_t size = dims[axis], count = shown_of(size, edge);
  const std::string between =
      axis + 1 == dims.rank() ? ", " : ",\n" + std::string(static_cast<std::size_t>(axis) + 1, ' ');
  to += "[";
  for (std::int64_t i = 0; i < count; ++i) {
    if (i) to += between;
    if (i == edge && count < size) to += "..." + between;
    write_axis(to, dims, edge, axis + 1, next);
  }
  to += "]";
}

// As the stream writes numbers; its width is the least of each element.
std::string printed(const tensor& x, std::ostringstream& in) {
  if (!x.defined()) return "tensor (undefined)";
  const shape& dims = x.dims();
  const std::int64_t edge = edge_of(dims);
  const auto least = static_cast<std::size_t>(std::max<std::streamsize>(in.width(0), 0));
  std::vector<cell> cells = cells_of(x, edge, in);
  align(cells, {.columns = dims.rank() > 1 && x.type() != dtype::text,
                .left = (in.flags() & std::ios::adjustfield) == std::ios::left,
                .least = least,
                .fill = in.fill()});
  std::string text = "tensor " + std::string(name_of(x.type())) + " " + to_string(dims) + "\n";
  const cell* next = cells.data();
  write_axis(text, dims, edge, 0, next);
  return text;
}

// Whatever the program's locale is.
std::ostringstream plain_stream() {
  std::ostringstream in;
  in.imbue(std::locale::classic());
  return in;
}

}  // namespace

std::string to_string(const tensor& x) {
  std::ostringstream in = plain_stream();
  return printed(x, in);
}

std::ostream& operator<<(std::ostream& out, const tensor& x) {
  std::ostringstream in;
  in.copyfmt(out);
  in.exceptions(std::ios::goodbit);
  out.width(0);
  return out << printed(x, in);
}

std::ostream& operator<<(std::ostream& out, const shape& dims) { return out << to_string(dims); }
std::ostream& operator<<(std::ostream& out, dtype type) { return out << name_of(type); }

std::string detail::formatted(const tensor& x, const element_format& how) {
  std::ostringstream in = plain_stream();
  in.precision(how.precision), in.width(how.width);
  if (how.left) in << std::left;
  if (how.sign) in << std::showpos;
  if (how.alternate) in << std::showpoint << std::showbase;
  if (how.type >= 'A' && how.type <= 'Z') in << std::uppercase;
  switch (how.type) {
    case 'f':
    case 'F': in << std::fixed; break;
    case 'e':
    case 'E': in << std::scientific; break;
    case 'a':
    case 'A': in << std::hexfloat; break;
    case 'x':
    case 'X': in << std::hex; break;
    case 'o': in << std::oct; break;
    default: break;
  }
  return printed(x, in);
}

}  // namespace kerngrad
