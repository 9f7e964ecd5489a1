// SPDX-License-Identifier: Apache-2.0
// Fuzz target: a .csv. The first line says how it is read: a delimiter, 0 or 1 for a header or anything else, a dtype.
#include <algorithm>
#include <cmath>

#include "tests/fuzz/files.h"

namespace {

// Equal elements; NaN equals NaN, whatever its bits.
bool same_values(const kg::tensor& a, const kg::tensor& b) {
  if (a.type() != b.type() || a.dims() != b.dims()) return false;
  if (a.type() == kg::dtype::text) return a.to_texts() == b.to_texts();
  const auto x = a.to_doubles(), y = b.to_doubles();
  return std::equal(x.begin(), x.end(), y.begin(),
                    [](double p, double q) { return p == q || (std::isnan(p) && std::isnan(q)); });
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::span<const std::uint8_t> input) {
    if (input.size() < 4 || input[3] != '\n') return;
    kg::io::csv_options how{.delimiter = static_cast<char>(input[0])};
    if (input[1] == '0' || input[1] == '1') how.header = input[1] == '1';
    how.type = static_cast<kg::dtype>(input[2] % kg::dtype_count);
    kg::io::table read;
    if (!fuzz::accepted([&] { read = kg::io::decode_csv(fuzz::bytes_of(input.subspan(4)), "x.csv", how); })) return;
    const std::string path = fuzz::folder() + "/x.csv";
    const std::string said = fuzz::refusal([&] { kg::io::save_csv(path, read, how.delimiter); });
    fuzz::require(said.empty(), "a table that was read cannot be saved: " + said);
    how.header = !read.columns.empty();
    const kg::io::table again = kg::io::load_csv(path, how);
    fuzz::require(again.columns == read.columns && same_values(again.values, read.values),
                  "a table is another one when it was saved");
    std::filesystem::remove(path);
  });
}
