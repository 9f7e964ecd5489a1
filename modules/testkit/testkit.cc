// SPDX-License-Identifier: Apache-2.0
// The test kit: what an op has to hold, checked on calls that its row gives. A module of its own on top of kerngrad's
// public interface, for any test framework: `EXPECT_TRUE(report) << report`.
module;
#include "kernels/common/abi.h"
export module kerngrad.testkit;

import kerngrad;

export namespace kerngrad::testkit {

// ------------------------------------------------------------------------------------------ calls

/// One operand of a sample: shapes that are filled with values in the op's range, or fixed values.
struct sample_operand {
  std::string name;
  std::vector<shape> dims{};  ///< several for a list operand
  tensor values{};            ///< fixed values, those of a list in turn; floats are cast to the dtype of the call
  sample_operand(std::string_view name, const shape& dims) : name(name), dims{dims} {}
  sample_operand(std::string_view name, std::vector<shape> list) : name(name), dims(std::move(list)) {}
  sample_operand(std::string_view name, tensor values) : name(name), dims{values.dims()}, values(std::move(values)) {}
};
/// Returns the tensors of an operand with fixed values: one, or those of a list.
std::vector<tensor> fixed_tensors(const sample_operand& given);

/// A legal call of an op, on which the checks are made.
struct sample {
  std::vector<sample_operand> operands{};
  std::vector<named_attribute> attrs{};
};
/// The sample as in "x [2, 3] alpha=0.1".
std::string to_string(const sample& call);

/// Returns legal calls of an op by its family: ranks 0 to 4, sizes 0, 1 and primes, broadcasting, every branch of the
/// standard attributes. `long_ones` adds some that are longer than the widest vector. Empty if the op's `row` does not
/// say enough.
std::vector<sample> samples_of(const op_row& row, bool long_ones = false);
/// Returns the call of an op that follows from a call of its forward op: operands of one name are the same, `dy` has
/// the shape of the result, and `inputShape` is the shape of the first operand.
/// `backward_sample(*row_named("AvgPoolGrad"), call)` completes a call of AvgPool. Throws for an op without a forward
/// op.
sample backward_sample(const op_row& row, const sample& forward);

/// The range of an operand's values: from `low` to `high`.
struct operand_range {
  std::string operand;
  double low = -2, high = 2;
};

// ------------------------------------------------------------------------------------------ what is checked

/// The checks, in the order in which they run.
enum class check : std::uint8_t {
  samples,         ///< there are legal calls
  results,         ///< every dtype and shape runs; results have the shapes and dtypes of the op's entry
  targets,         ///< results of every SIMD target, or of the chosen backend, are those of the backend reference
  oracle,          ///< results are those of the oracle, if there is one
  special_values,  ///< targets and oracle for NaN, infinities, zeros of both signs and the ends of the range
  aliasing,        ///< operands do not change, may be one tensor, and share no memory with results
  determinism,     ///< bitwise identical results at a second run, at other addresses, and from the middle of an array
  bad_calls,       ///< wrong calls are rejected with an error that names the op, and leave nothing behind
  gradient,        ///< first order against central differences, also of one tensor as several operands
  second_order,    ///< the gradient of the gradient against differences of the gradient
  forward,         ///< jvp against differences, and as the transpose of the gradient
  memory,          ///< calls and gradients leave no tensor behind
};
/// Number of checks.
inline constexpr int check_count = 12;
/// The name of a check, such as "bad calls".
std::string_view name_of(check which);

/// A check that is skipped, and why.
struct exclusion {
  check which;
  std::string reason;
};

/// Options of check_op: which calls are made, and what is allowed.
struct options {
  std::vector<sample> samples{};  ///< legal calls, in place of those of samples_of
  std::vector<sample> refused{};  ///< calls that must be rejected, next to those that the kit makes of the legal ones
  /// Computes the op from its definition, preferably in other arithmetic. It gets operands of the dtype that the call
  /// is made in, and all attributes, also defaults. It must return results of the op's dtype.
  std::function<tensor_list(const kernel_call&)> oracle{};
  /// Allowed error, in units of the dtype's epsilon relative to the result, or to the largest of all results if the op
  /// sums. A negative number stands for the default of the op's family. 0 demands equal values.
  double tolerance = -1;
  dtype_set dtypes = any_element;       ///< calls are made in those of these dtypes that the op takes
  std::vector<operand_range> ranges{};  ///< of operands' values; by default the domain of the op's row
  std::vector<exclusion> without{};     ///< checks to skip; a reason must be given
  std::uint64_t seed = 1;
  /// "simd" for all its targets, or a registered backend, which may lack kernels.
  std::string backend = "simd";
  /// Skips calls whose results have more bytes, although they are legal.
  std::int64_t largest_result = std::int64_t{1} << 30;
  bool thorough = false;  ///< all wrong calls instead of a seventh of them
};

/// One fault of an op, as a check found it.
struct failure {
  std::string op;
  check by = check::samples;
  std::string call;  ///< dtype, shapes and attributes of the call
  std::string got, wanted;
};
/// The failure as in "[Softshrink] gradient: float64 x [7]: got gradient 0.5 for element 3 of operand 0; wanted 1 by
/// differences, within 1e-06".
std::string to_string(const failure& what);

/// The findings of check_op, by checks. It converts to true if nothing is wrong.
class report {
 public:
  explicit report(std::string_view op) : op_(op) {}
  bool ok() const { return failures_.empty(); }
  explicit operator bool() const { return ok(); }
  const std::string& op() const { return op_; }
  /// Up to four failures of each check, in the order of the checks.
  const std::vector<failure>& failures() const { return failures_; }
  /// Number of failures of a check, also those that `failures` does not hold.
  std::int64_t failed(check by) const { return failed_[static_cast<std::size_t>(by)]; }
  /// Number of calls that a check made and judged.
  std::int64_t count(check by) const { return counts_[static_cast<std::size_t>(by)]; }
  /// The checks that the options skipped.
  const std::vector<exclusion>& excluded() const { return excluded_; }
  /// Attributes that no call set to another value than the default: their other values are not tested.
  const std::vector<std::string>& unset_attributes() const { return unset_; }

  // For the checks.
  void add(check by, std::string call, std::string got, std::string wanted);
  void counted(check by, std::int64_t calls = 1) { counts_[static_cast<std::size_t>(by)] += calls; }
  void exclude(exclusion what) { excluded_.push_back(std::move(what)); }
  void unset(std::string_view attribute) { unset_.emplace_back(attribute); }

 private:
  std::string op_;
  std::vector<failure> failures_;
  std::array<std::int64_t, check_count> failed_{}, counts_{};
  std::vector<exclusion> excluded_;
  std::vector<std::string> unset_;
};
/// Failures as sentences, one per line, then the number of calls of each check, the skipped checks, and the attributes
/// that no call set.
std::string to_string(const report& all);
/// Writes the report as text.
std::ostream& operator<<(std::ostream& out, const report& all);

/// Checks an op by name, built in or registered with register_op. While it runs, it sets the SIMD target for all
/// threads and counts the memory of all threads: let no other thread compute meanwhile. Throws `error` for an unknown
/// op and for invalid options; faults of the op are in the report.
report check_op(std::string_view name, const options& how = {});
/// Checks a custom op. If it is not registered, it is registered during the check.
template <class Op>
report check_op(const options& how = {}) {
  registration here;
  if (row_named(Op::row.name) != &Op::row) here = scoped_op<Op>();
  return check_op(Op::row.name, how);
}

// ------------------------------------------------------------------------------------------ functions

/// A function of several tensors that check_function differentiates; it returns one or more results.
using results_of = std::function<tensor_list(std::span<const tensor>)>;
/// The step of differences, and the allowed error of a derivative. The error is relative for derivatives above 1.
struct precision {
  double step, tolerance;
};
inline constexpr precision fine{2e-3, 1e-6};    ///< the precision for float64
inline constexpr precision coarse{1e-2, 4e-3};  ///< the precision for float32 and complex64

/// Checks the derivatives of a function of floating or complex tensors: the checks gradient, second_order and forward
/// of check_op. Keep the values at least three steps away from kinks.
report check_function(std::string_view name, const results_of& f, std::span<const tensor> xs,
                      const precision& at = fine);

// ------------------------------------------------------------------------------------------ values

/// A stream of random numbers that is the same on every platform.
class stream {
 public:
  explicit stream(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  /// 64 random bits (Steele, Lea and Flood 2014).
  std::uint64_t bits();
  /// A random number in [0, 1).
  double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  /// A random integer from 0 to bound - 1.
  std::uint64_t below(std::uint64_t bound) { return bits() % bound; }

 private:
  std::uint64_t state_;
};

/// Makes a tensor of any dtype from doubles; complex elements take two each, text has them as decimal strings. Values
/// that an integer dtype cannot hold wrap.
tensor from_doubles(const std::vector<double>& values, const shape& dims, dtype type);
/// The elements as doubles, which from_doubles turns into the tensor again: complex ones as pairs, strings as numbers.
std::vector<double> doubles_of(const tensor& x);
/// Makes operands for a sample, with random values of a dtype. Operands that do not accept it get the first one that
/// they accept.
std::vector<named_operand> operands_for(const op_row& row, const sample& call, dtype type, std::uint64_t seed = 1,
                                        std::span<const operand_range> ranges = {});

/// Returns the attributes for a sample in calls of a dtype. For text, a nonzero number becomes a string if its
/// attribute accepts both numbers and strings.
std::vector<named_attribute> attributes_for(const op_row& row, const sample& call, dtype type);

/// A call with one or two mistakes. Some of them turn out to be legal.
struct wrong_call {
  std::string label;  ///< what was changed
  std::vector<named_operand> operands;
  std::vector<named_attribute> attrs;
};
/// Returns the wrong calls that check_op makes from an op's legal ones, the same at every run. `stride` n keeps every
/// n-th of them.
std::vector<wrong_call> wrong_calls_of(const op_row& row, std::size_t stride = 1);

}  // namespace kerngrad::testkit

// Shared by the checks. Not visible outside the kit.
namespace kerngrad::testkit::detail {

/// One call that is ready to be made.
struct prepared {
  std::string label;
  dtype type = dtype::float32;
  std::vector<named_operand> operands;
  std::vector<named_attribute> attrs;
};

/// The op under test and what has been found.
struct session {
  const op_row& row;
  const options& how;
  report found;
  std::vector<sample> samples, long_samples;

  bool wants(check which) const;
  /// Calls in all dtypes that the row and the options allow.
  std::vector<prepared> calls(bool long_ones) const;
  tensor_list run(const prepared& call) const { return run_kernel_list(row.name, call.operands, call.attrs); }
};

// Samples by family.
using shapes = std::vector<shape>;
using attributes = std::vector<named_attribute>;
using integers = std::vector<std::int64_t>;
sample make_sample(const op_row& row, const shapes& dims, attributes attrs = {});
/// Makes the samples of the ops that have an attribute or an operand of this name.
struct sample_maker {
  std::string_view part;
  std::vector<sample> (*make)(const op_row& row, bool long_ones);
};
/// Samples by the first maker whose part the row has; empty if there is none.
std::vector<sample> made_by(std::span<const sample_maker> makers, const op_row& row, bool long_ones);
/// The candidates that give all that the row requires, and that its shape rule accepts.
std::vector<sample> legal_ones(const op_row& row, std::vector<sample> candidates);
std::vector<sample> matrix_samples(const op_row& row, bool long_ones);
std::vector<sample> window_samples(const op_row& row, bool long_ones);
std::vector<sample> fused_samples(const op_row& row, bool long_ones);
std::vector<sample> move_samples(const op_row& row, bool long_ones);
/// Samples of the ops of one operand or none, by the names of their attributes.
std::vector<sample> moved_samples(const op_row& row, bool long_ones);
/// Samples of the ops of one list: joined, added, and multiplied by an equation.
std::vector<sample> list_samples(const op_row& row, bool long_ones);
/// Samples of the ops that look up, put or add elements at indices.
std::vector<sample> index_samples(const op_row& row, bool long_ones);
std::vector<sample> select_samples(const op_row& row, bool long_ones);
std::vector<sample> image_samples(const op_row& row, bool long_ones);
std::vector<sample> volume_samples(const op_row& row, bool long_ones);
std::vector<sample> sparse_samples(const op_row& row, bool long_ones);
std::vector<sample> count_samples(const op_row& row, bool long_ones);
std::vector<sample> norm_samples(const op_row& row, bool long_ones);
std::vector<sample> attention_samples(const op_row& row, bool long_ones);
std::vector<sample> sort_samples(const op_row& row, bool long_ones);
std::vector<sample> fft_samples(const op_row& row, bool long_ones);
std::vector<sample> text_samples(const op_row& row, bool long_ones);
/// Values that a legal call of an op that the kit does not know may give to its attributes: the defaults, and one
/// change at a time. An optional list becomes axes, of which the row's rule takes those that it knows. Empty if the kit
/// knows no values for an attribute without a default.
std::vector<attributes> attribute_choices(const op_row& row);

// Values.
bool is_known(const op_row& row);
/// The dtype, or the first one that the operand accepts.
dtype accepted_dtype(const operand& spec, dtype wanted);
std::vector<dtype> taken_dtypes(const op_row& row, dtype_set among);
dtype precise_dtype(const op_row& row, dtype_set among);
bool same_bits(const tensor& a, const tensor& b);
bool same_bits(const tensor_list& a, const tensor_list& b);
tensor copy_of(const tensor& x);
std::vector<named_operand> copies_of(std::span<const named_operand> operands);
std::string text_of(double value);
/// For a dtype of floats, or of complex numbers' parts: the distance of 1 from the next number, the smallest normal and
/// the largest number.
struct float_range {
  double epsilon, least, most;
};
float_range range_of_floats(dtype type);
/// Fills the blocks of the next results with bytes that no correct result has. So elements that a kernel leaves out are
/// found.
void poison(const tensor_list& like);

/// The results by the row's own rule; empty if it rejects the call.
std::vector<signature> results_by_rule(const op_row& row, std::span<const named_operand> operands,
                                       std::span<const named_attribute> attrs);
/// The choices of a text attribute.
std::vector<std::string_view> choices_of(const attr_spec& spec);
// Attributes in the row's order, with defaults.
std::vector<attr_value> completed_attrs(const op_row& row, std::span<const named_attribute> given);

// Wrong calls.
enum class verdict { refused, either };

struct bad_call {
  std::string label;
  std::vector<named_operand> operands;
  std::vector<named_attribute> attrs;
  verdict expected = verdict::either;
};

// A mistake, and the operand or attribute that it is made in: a second one in the same target could undo the first.
struct mutation {
  std::string target;
  std::function<void(bad_call&)> make;
};
std::vector<mutation> operand_mutations(const op_row& row, const std::vector<named_operand>& operands);
std::vector<mutation> attribute_mutations(const op_row& row);
// A kind that the attribute never takes, whatever its value.
bool is_foreign_kind(const attr_spec& spec, const attr_value& value);
bool is_out_of_range(const attr_spec& spec, const attr_value& value);

// The checks.
void check_results(session& s);
void check_values(session& s);
void check_special_values(session& s);
void check_aliasing(session& s);
void check_determinism(session& s);
void check_bad_calls(session& s);
void check_derivatives(session& s);
void check_memory(session& s);

/// A sample of an op as a function of its differentiable operands.
struct differentiated {
  std::string name;
  std::vector<named_operand> operands;
  std::vector<named_attribute> attrs;
  std::vector<tensor> leaves;

  differentiated(const op_row& row, const prepared& call);
  /// The results for other values of the leaves. It refers to this object.
  results_of function() const;
};

// Gradients of a function against differences, into the report.
struct derivative_call {
  std::string label;
  const results_of& f;
  std::span<const tensor> xs;
  precision at;
  double transposed;  // how far the two sides of the transpose may be apart, relative to the terms
};
/// The first result that a gradient flows through.
std::optional<int> first_differentiable(const tensor_list& results);
void judge_gradient(report& found, const derivative_call& call);
void judge_second_order(report& found, const derivative_call& call);
void judge_forward(report& found, const derivative_call& call);
/// Compares the gradient in half precision with that in float32 at the same values. Differences are too coarse in half
/// precision.
void judge_half_gradient(report& found, const derivative_call& half, const results_of& in_float32);

}  // namespace kerngrad::testkit::detail
