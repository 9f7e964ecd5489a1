// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "tools/models/recording.h"

namespace models {

namespace {

double element_of_feed(std::uint32_t i) {
  const std::uint32_t hash = (i + 1) * 2654435761u;
  return static_cast<double>(hash >> 8) / (1 << 24);
}

// Infinite numbers and NaN are written as texts.
double number_of(const json& value) {
  if (value.is_number()) return value.get<double>();
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  const std::string text = value.get<std::string>();
  const double infinity = std::numeric_limits<double>::infinity();
  return text == "Infinity" ? infinity : text == "-Infinity" ? -infinity : std::nan("");
}

bool agrees(double got, double wanted, double tolerance) {
  if (std::isnan(wanted) || std::isnan(got)) return std::isnan(wanted) && std::isnan(got);
  return got == wanted || std::fabs(got - wanted) <= tolerance;
}

}  // namespace

std::vector<kg::named_operand> feeds_of(const json& recording) {
  std::vector<kg::named_operand> all;
  for (const json& feed : recording.at("feeds")) {
    const kg::shape dims(feed.at("shape").get<std::vector<std::int64_t>>());
    const auto count = static_cast<std::uint32_t>(dims.size());
    const std::string name = feed.at("name").get<std::string>();
    if (feed.at("dtype") == "int32") {
      std::vector<std::int32_t> values(count);
      for (std::uint32_t i = 0; i < count; ++i) values[i] = static_cast<std::int32_t>(256 * element_of_feed(i));
      all.emplace_back(name, kg::tensor(values, dims));
    } else {
      std::vector<float> values(count);
      for (std::uint32_t i = 0; i < count; ++i) values[i] = static_cast<float>(element_of_feed(i));
      all.emplace_back(name, kg::tensor(values, dims));
    }
  }
  return all;
}

std::vector<std::string> outputs_of(const json& recording) {
  std::vector<std::string> names;
  for (const json& output : recording.at("outputs")) names.push_back(output.at("name").get<std::string>());
  return names;
}

std::string difference(const kg::tensor& got, const json& output) {
  const std::string wanted = fmt::format("{} {}", output.at("dtype").get<std::string>(),
                                         kg::to_string(kg::shape(output.at("shape").get<std::vector<std::int64_t>>())));
  const std::string actual = fmt::format("{} {}", kg::name_of(got.type()), kg::to_string(got.dims()));
  if (actual != wanted) return fmt::format("got {}, wanted {}", actual, wanted);
  const std::vector<double> all = got.to_doubles();
  const std::size_t step = output.at("step").get<std::size_t>();
  const json& sample = output.at("sample");
  const double tolerance = 5e-4 * std::max(1.0, number_of(output.at("largest")));
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double value = number_of(sample[i]);
    if (!agrees(all.at(i * step), value, tolerance))
      return fmt::format("element {}: got {:.9g}, wanted {:.9g} within {:.2g}", i * step, all.at(i * step), value,
                         tolerance);
  }
  return {};
}

}  // namespace models
