// SPDX-License-Identifier: Apache-2.0
// Comparison of a case with what was recorded. Every bound is a number of units in the last place of the result's
// dtype, times the element's size and the condition: the change that a relative change of the operands makes in it, or
// PyTorch's own error in single precision. opinfo.py measures both.
#include <algorithm>
#include <functional>
#include <sstream>
#include <tuple>

#include "tests/opinfo/judge.h"

namespace opinfo {

namespace {

// Units in the last place. A value comes of one op or a few, each with at most 4 units by its documentation; a gradient
// of two to four times as many, and the gradient of that again.
constexpr double units_of[] = {8, 32, 128};
// A condition that was not recorded is at most this many times the element's size.
constexpr double plain_condition = 4;

struct precision {
  double epsilon, least, most;  ///< `least` is the smallest normal number
};

precision precision_of(kg::dtype type) {
  switch (type) {
    case kg::dtype::float16: return {0x1p-10, 0x1p-14, 65504};
    case kg::dtype::bfloat16: return {0x1p-7, 0x1p-126, 0x1.fep127};
    case kg::dtype::float64:
    case kg::dtype::complex128: return {0x1p-52, 0x1p-1022, std::numeric_limits<double>::max()};
    default: return {0x1p-23, 0x1p-126, std::numeric_limits<float>::max()};
  }
}

bool is_complex(kg::dtype type) { return type == kg::dtype::complex64 || type == kg::dtype::complex128; }
bool is_float(kg::dtype type) { return kg::floating.has(type) || is_complex(type); }
bool is_integer(kg::dtype type) { return !is_float(type) && type != kg::dtype::boolean; }

// Complex elements are two numbers each.
std::vector<double> numbers_of(const kg::tensor& x) {
  if (!is_complex(x.type())) return x.to_doubles();
  const std::vector<double> real = kg::real(x).to_doubles(), imag = kg::imag(x).to_doubles();
  std::vector<double> all;
  for (std::size_t i = 0; i < real.size(); ++i) all.insert(all.end(), {real[i], imag[i]});
  return all;
}

bool agrees(double got, double wanted, double condition, double units, const precision& p) {
  if (std::isnan(wanted) || std::isnan(got)) return std::isnan(wanted) && std::isnan(got);
  if (std::isinf(wanted)) return got == wanted;
  // A reference in double precision may be finite where the dtype has no such number.
  const double bound = units * p.epsilon * (std::fabs(wanted) + condition + p.least);
  if (std::isinf(got)) return std::fabs(wanted) + bound >= p.most && (got > 0) == (wanted > 0);
  return std::fabs(got - wanted) <= bound;
}

std::string text_of(const kg::tensor& x) { return std::string(kg::name_of(x.type())) + " " + kg::to_string(x.dims()); }

// Floats have the dtype that was recorded, of integer operands any; integers have any width.
bool same_kind(kg::dtype got, kg::dtype wanted, kg::dtype own) {
  if (is_integer(got) || is_integer(wanted)) return is_integer(got) && is_integer(wanted);
  if (is_float(own) || got == kg::dtype::boolean || wanted == kg::dtype::boolean) return got == wanted;
  return is_complex(got) == is_complex(wanted);
}

// PyTorch's uint8 wraps, the library's goes on in a wider integer: they agree in the low byte.
double wrapped(double number, kg::dtype got, std::optional<kg::dtype> wanted) {
  if (wanted != kg::dtype::uint8 || !is_integer(got)) return number;
  return number - 256 * std::floor(number / 256);
}

// The difference in a few words, or nothing.
std::string difference(const kg::tensor& got, const json& recorded, kg::dtype own, part of) {
  const std::string type = recorded.value("t", std::string(kg::name_of(own)));
  const kg::shape dims(recorded.at("s").get<std::vector<std::int64_t>>());
  const auto wanted_type = kg::dtype_named(type);
  if (!wanted_type ? !is_integer(got.type()) : !same_kind(got.type(), *wanted_type, own))
    return "got " + text_of(got) + ", expected " + type;
  if (!(got.dims() == dims)) return "got " + text_of(got) + ", expected " + kg::to_string(dims);
  // A float64 result of integers is recorded with the digits of PyTorch's float32.
  precision p = precision_of(got.type());
  if (wanted_type && is_float(*wanted_type) && precision_of(*wanted_type).epsilon > p.epsilon)
    p = precision_of(*wanted_type);
  std::vector<double> numbers = numbers_of(got);
  for (double& number : numbers) number = wrapped(number, got.type(), wanted_type);
  const json& wanted = recorded.at("v");
  const bool exact = !is_float(got.type());
  std::ostringstream text;
  text.precision(9);
  std::size_t count = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double number = number_of(wanted[i]);
    const double condition =
        recorded.contains("c") ? number_of(recorded.at("c")[i]) : plain_condition * std::fabs(number);
    if (exact ? numbers[i] == number : agrees(numbers[i], number, condition, units_of[static_cast<int>(of)], p))
      continue;
    if (count++ == 0) text << "at " << i << " got " << numbers[i] << ", expected " << number;
  }
  if (count == 0) return {};
  text << " (" << count << " of " << numbers.size() << " differ)";
  return text.str();
}

std::string difference(std::span<const kg::tensor> got, const json& recorded, kg::dtype own, part of) {
  if (got.size() != recorded.size())
    return std::to_string(got.size()) + " results, expected " + std::to_string(recorded.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    if (std::string text = difference(got[i], recorded[i], own, of); !text.empty())
      return "result " + std::to_string(i) + ": " + text;
  return {};
}

// ------------------------------------------------------------------------------------------ gradients

// The weights of opinfo.py: every other one from `first` on where a complex element has two.
kg::tensor weights(const kg::tensor& like, int factor, int modulus, int first, int step) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < like.size(); ++i)
    values.push_back((static_cast<double>((first + step * i) * factor % modulus) - (modulus - 1) / 2.0 + 0.125) / 4);
  return kg::tensor(values, like.dims());
}

// The sum of all elements of floats, each with its weight, in double precision.
kg::tensor functional(std::span<const kg::tensor> all, int factor, int modulus) {
  kg::tensor total(0.0);
  const auto add = [&](const kg::tensor& x, int first, int step) {
    total = total + kg::sum(kg::cast(x, kg::dtype::float64) * weights(x, factor, modulus, first, step));
  };
  for (const kg::tensor& x : all) {
    if (is_complex(x.type())) add(kg::real(x), 0, 2), add(kg::imag(x), 1, 2);
    else if (is_float(x.type())) add(x, 0, 1);
  }
  return total;
}

using function = std::function<kg::tensor(std::span<const kg::tensor>)>;

std::vector<finding> gradients_judged(const json& line, const call_line& call, const sample& s) {
  const function f = [&](std::span<const kg::tensor> leaves) { return functional(call.run(s.with(leaves)), 5, 8); };
  const function gradient = [&](std::span<const kg::tensor> leaves) {
    return functional(kg::value_and_grads_of(f, leaves).grads, 3, 7);
  };
  std::vector<finding> all;
  for (const auto& [key, of, run] :
       {std::tuple("g", part::gradient, &f), std::tuple("h", part::second_order, &gradient)}) {
    if (!line.contains(key)) continue;
    try {
      const std::vector<kg::tensor> leaves = s.leaves();
      const std::string text = difference(kg::value_and_grads_of(*run, leaves).grads, line.at(key), s.own_type(), of);
      all.push_back({of, text.empty() ? verdict::equal : verdict::failed, text});
    } catch (const kg::error& e) {
      all.push_back({of, verdict::rejected, e.what()});
    }
  }
  return all;
}

finding error_judged(const call_line& call, const sample& s, const json& line) {
  try {
    call.run(s);
  } catch (const kg::error&) {
    return {part::error, verdict::equal};
  }
  s.check_all_read();
  return {part::error, verdict::failed, "accepted what PyTorch rejects: " + line.at("error").get<std::string>()};
}

std::vector<finding> results_judged(const json& line, const call_line& call, const sample& s) {
  std::vector<finding> all;
  try {
    const results got = call.run(s);
    s.check_all_read();
    const std::string text = difference(got, line.at("y"), s.own_type(), part::value);
    all.push_back({part::value, text.empty() ? verdict::equal : verdict::failed, text});
  } catch (const kg::error& e) {
    return {{part::value, verdict::rejected, e.what()}};
  }
  const std::vector<finding> more = gradients_judged(line, call, s);
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

std::vector<finding> judged(const json& line, const call_line& call) {
  const part of = line.contains("error") ? part::error : part::value;
  try {
    const sample s(line);
    if (of == part::error) return {error_judged(call, s, line)};
    return results_judged(line, call, s);
  } catch (const skip& e) {
    return {{of, verdict::skipped, e.reason}};
  } catch (const kg::error& e) {  // of an operand, which has too many axes
    return {{of, of == part::error ? verdict::equal : verdict::rejected, e.what()}};
  } catch (const std::exception& e) {
    return {{of, verdict::failed, std::string("threw something else than kg::error: ") + e.what()}};
  }
}

}  // namespace opinfo
