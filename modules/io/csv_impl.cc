// SPDX-License-Identifier: Apache-2.0
// Tables as text: comma-separated values (RFC 4180).
module;
#include <locale.h>
#include <stdlib.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/sizes.h"
module kerngrad.io;

namespace kerngrad::io::detail {

namespace {

// ------------------------------------------------------------------------------------------ fields

void check_delimiter(const origin& file, char delimiter) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.\"\r\n";
  if (delimiter == '\0' || letters.find(delimiter) != std::string_view::npos)
    file.refuse("would have the delimiter " + in_quotes({&delimiter, 1}),
                "one that is in no number, quotes or line end, such as ',', ';' or a tab");
}

// The fields of a text, row by row.
class field_reader {
 public:
  field_reader(const origin& file, std::string_view text, char delimiter)
      : file_(file), rest_(text), delimiter_(delimiter) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (rest_.starts_with(byte_order_mark)) rest_.remove_prefix(byte_order_mark.size());
  }

  // The next row that is not empty; false at the end.
  bool next_row() {
    while (!rest_.empty() && (rest_[0] == '\n' || rest_.starts_with("\r\n"))) {
      rest_.remove_prefix(rest_[0] == '\n' ? 1 : 2);
      ++line_;
    }
    row_line_ = line_;
    in_row_ = !rest_.empty();
    return in_row_;
  }
  // The next field of the row, without its quotes and the blanks around it; false after the last one. The text is
  // valid until the next call.
  bool next_field(std::string_view& field) {
    if (!in_row_) return false;
    skip_blanks();
    field = !rest_.empty() && rest_[0] == '"' ? quoted_field() : plain();
    skip_blanks();
    if (!rest_.empty() && rest_[0] == delimiter_) {
      rest_.remove_prefix(1);
      return true;
    }
    in_row_ = false;
    if (rest_.starts_with("\r\n")) rest_.remove_prefix(1);
    if (!rest_.empty() && rest_[0] != '\n')
      refuse("has text behind quotes", "a delimiter or the end of the line there");
    if (!rest_.empty()) rest_.remove_prefix(1);
    ++line_;
    return true;
  }
  // "has ... in line 7".
  [[noreturn]] void refuse(const std::string& got, std::string_view wanted, std::string_view advice = {}) const {
    file_.refuse(got + " in line " + std::to_string(row_line_), wanted, advice);
  }

 private:
  bool is_blank(char c) const { return (c == ' ' || c == '\t') && c != delimiter_; }
  void skip_blanks() {
    while (!rest_.empty() && is_blank(rest_[0])) rest_.remove_prefix(1);
  }
  std::string_view plain() {
    std::size_t end = 0;
    while (end < rest_.size() && rest_[end] != delimiter_ && rest_[end] != '\n' &&
           !(rest_[end] == '\r' && (end + 1 == rest_.size() || rest_[end + 1] == '\n')))
      ++end;
    std::string_view field = rest_.substr(0, end);
    rest_.remove_prefix(end);
    if (rest_ == "\r") rest_ = {};
    while (!field.empty() && is_blank(field.back())) field.remove_suffix(1);
    return field;
  }
  std::string_view quoted_field() {
    unquoted_.clear();
    for (std::size_t i = 1; i < rest_.size(); ++i) {
      if (rest_[i] == '"' && (i + 1 == rest_.size() || rest_[i + 1] != '"')) {
        rest_.remove_prefix(i + 1);
        return unquoted_;
      }
      if (rest_[i] == '"') ++i;  // two stand for one
      if (rest_[i] == '\n') ++line_;
      unquoted_ += rest_[i];
    }
    refuse("has quotes that do not end", "quotes in pairs");
  }

  origin file_;
  std::string_view rest_;
  char delimiter_;
  bool in_row_ = false;
  std::int64_t line_ = 1, row_line_ = 1;
  std::string unquoted_;
};

// ------------------------------------------------------------------------------------------ numbers

bool is_missing(std::string_view field) { return field.empty() || field == "NA" || field == "N/A"; }

// By the C library, with the point of no country: where the C++ library reads no floats, and beyond their range.
template <class T>
std::optional<T> by_c_library(std::string_view field) {
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
  const std::string text(field);
  constexpr std::string_view begins = "0123456789.-iInN";  // no blanks, and no sign twice
  if (text.empty() || begins.find(text[0]) == std::string_view::npos ||
      text.find_first_of("xX") != std::string_view::npos)
    return {};
  char* end = nullptr;
  T value;
  if constexpr (std::is_same_v<T, float>) value = strtof_l(text.c_str(), &end, plain);
  else value = strtod_l(text.c_str(), &end, plain);
  if (end != text.c_str() + text.size()) return {};
  return value;
}

template <class T>
std::optional<T> float_in(std::string_view field) {
#ifdef __cpp_lib_to_chars
  T value = 0;
  const auto [end, code] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (code == std::errc::result_out_of_range) return by_c_library<T>(field);
  if (code != std::errc{} || end != field.data() + field.size()) return {};
  return value;
#else
  return by_c_library<T>(field);
#endif
}

// The number that a field writes down, if it is one of the dtype's.
template <class T>
std::optional<T> value_in(std::string_view field) {
  constexpr bool has_nan = !std::is_integral_v<T>;
  if (is_missing(field)) {
    if constexpr (has_nan) return T(std::numeric_limits<float>::quiet_NaN());
    else return {};
  }
  if constexpr (std::is_same_v<T, bool>) {
    if (field == "1" || field == "true" || field == "True" || field == "TRUE") return true;
    if (field == "0" || field == "false" || field == "False" || field == "FALSE") return false;
    return {};
  } else {
    if (field.size() > 1 && field[0] == '+' && field[1] != '-' && field[1] != '+') field.remove_prefix(1);
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
      return float_in<T>(field);
    } else if constexpr (std::is_integral_v<T>) {
      T value = 0;
      const auto [end, code] = std::from_chars(field.data(), field.data() + field.size(), value);
      if (code != std::errc{} || end != field.data() + field.size()) return {};
      return value;
    } else {
      const std::optional<double> wide = float_in<double>(field);  // halves
      return wide ? std::optional<T>(T(*wide)) : std::nullopt;
    }
  }
}

// ------------------------------------------------------------------------------------------ tables

// Size of a table, before anything is converted or kept.
struct extent_of_table {
  bool header = false;
  std::int64_t rows = 0, fields = 0;  // a row's
  std::int64_t name_bytes = 0;        // of the first row
};

extent_of_table measured(const origin& file, std::string_view text, const csv_options& how) {
  extent_of_table found;
  field_reader reader(file, text, how.delimiter);
  std::string_view field;
  for (bool first = true; reader.next_row(); first = false) {
    std::int64_t count = 0;
    bool names = false;
    for (; reader.next_field(field); ++count) {
      if (!first) continue;
      names = names || !(value_in<double>(field) || value_in<bool>(field));
      found.name_bytes += std::ssize(field);
    }
    if (first) found.header = how.header.value_or(names), found.fields = count;
    if (count != found.fields)
      reader.refuse("has " + std::to_string(count) + (count == 1 ? " field" : " fields"),
                    std::to_string(found.fields) + ", as the first row has");
    if (!first || !found.header) ++found.rows;
  }
  return found;
}

// Skips the first row, and gives its fields.
std::vector<std::string> header_of(const origin& file, field_reader& reader, const extent_of_table& found,
                                   bool wanted) {
  std::vector<std::string> columns;
  constexpr auto each = static_cast<std::int64_t>(sizeof(std::string));
  if (wanted) {
    check_memory(file, "the names of columns",
                 kernels::saturated_sum(kernels::saturated_product(found.fields, each), found.name_bytes));
    columns.reserve(static_cast<std::size_t>(found.fields));
  }
  std::string_view field;
  reader.next_row();
  while (reader.next_field(field))
    if (wanted) columns.emplace_back(field);
  return columns;
}

template <class T>
void fill_table(field_reader& reader, std::span<T> values, dtype type) {
  std::string_view field;
  std::size_t next = 0;
  while (reader.next_row()) {
    for (std::size_t column = 1; reader.next_field(field); ++column) {
      const std::optional<T> value = value_in<T>(field);
      if (!value)
        reader.refuse("has " + in_quotes(field) + " as field " + std::to_string(column),
                      "a number of dtype " + std::string(name_of(type)),
                      is_missing(field) ? "missing values need a dtype of floats" : "");
      values[next++] = *value;
    }
  }
}

}  // namespace

table read_csv(const origin& file, std::span<const std::byte> bytes, const csv_options& how, bool with_names) {
  check_delimiter(file, how.delimiter);
  if (!is_dtype(how.type) || kind_of(how.type) >= dtype_kind::complex)
    file.refuse("would have elements of " + std::string(name_of(how.type)), "real numbers or bool");
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const extent_of_table found = measured(file, text, how);
  const shape dims{found.rows, found.fields};
  check_memory(file, "the table", dims, how.type);
  return visit_number(how.type, [&]<dtype Type>(dtype_constant<Type>) -> table {
    using number = typename dtype_constant<Type>::element;
    if constexpr (kind_of(Type) == dtype_kind::complex) {
      __builtin_unreachable();
    } else {
      table all;
      field_reader reader(file, text, how.delimiter);
      if (found.header) all.columns = header_of(file, reader, found, with_names);
      all.values = tensor::build<number>(dims, [&](std::span<number> elements) { fill_table(reader, elements, Type); });
      return all;
    }
  });
}

// ------------------------------------------------------------------------------------------ writing

namespace {

template <class T>
void append_number(std::string& text, T value) {
  if constexpr (std::is_same_v<T, bool>) {
    text += value ? '1' : '0';
  } else if constexpr (std::is_integral_v<T> || std::is_floating_point_v<T>) {
    char digits[32];  // a double has at most 24
    text.append(digits, std::to_chars(digits, std::end(digits), value).ptr);
  } else {
    append_number(text, static_cast<float>(value));
  }
}

std::string header_line(const std::vector<std::string>& columns, char delimiter) {
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i) line += delimiter;
    line += '"';
    for (const char c : columns[i]) line += c == '"' ? std::string("\"\"") : std::string(1, c);
    line += '"';
  }
  return columns.empty() ? line : line + '\n';
}

template <class T>
void write_rows(new_file& to, std::span<const T> values, std::int64_t rows, std::int64_t columns, char delimiter) {
  constexpr std::size_t portion = std::size_t{1} << 16;
  std::string text;
  std::size_t next = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      if (column) text += delimiter;
      append_number(text, values[next++]);
    }
    text += '\n';
    if (text.size() < portion) continue;
    to.write(text);
    text.clear();
  }
  to.write(text);
}

}  // namespace

void write_csv(const origin& file, const table& all, char delimiter) {
  check_delimiter(file, delimiter);
  const shape& dims = all.values.dims();
  const std::string what = std::string(name_of(all.values.type())) + " " + to_string(dims);
  if (kind_of(all.values.type()) >= dtype_kind::complex)
    file.refuse("would have " + what, "real numbers or bool", "save real and imaginary parts as columns");
  if (dims.rank() != 1 && dims.rank() != 2) file.refuse("would have " + what, "rank 1 or 2", "reshape it");
  const std::int64_t rows = dims[0], columns = dims.rank() == 2 ? dims[1] : 1;
  if (rows > 0 && columns == 0) file.refuse("would have " + what, "at least one column");
  if (rows == 0 && columns > 0 && all.columns.empty())
    file.refuse("would have " + what + ", of which nothing could be written", "a row, or names of the columns",
                "give the names to save_csv");
  if (!all.columns.empty() && static_cast<std::int64_t>(all.columns.size()) != columns)
    file.refuse("would have " + std::to_string(all.columns.size()) + " names of columns",
                std::to_string(columns) + ", as the values have");
  new_file to(file);
  to.write(header_line(all.columns, delimiter));
  visit_number(all.values.type(), [&]<dtype Type>(dtype_constant<Type>) {
    if constexpr (kind_of(Type) != dtype_kind::complex)
      write_rows(to, all.values.data<typename dtype_constant<Type>::element>(), rows, columns, delimiter);
  });
  to.keep();
}

}  // namespace kerngrad::io::detail
