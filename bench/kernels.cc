// SPDX-License-Identifier: Apache-2.0
// Every kernel of the table: dtype x call x size x target, derived from the rows. A kernel runs through its launcher,
// as a checked call would run it, into results that are there already; elementwise ones through their flat entry.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/machine.h"
#include "bench/support.h"
#include "bench/update.h"
#include "kernels/common/abi.h"
#include "kernels/text/text.h"
import kerngrad;
import kerngrad.testkit;
#include "bench/calls/calls.h"

namespace kgbench {
namespace {

// Work of the divider, for kernels that are bound by it.
void add_division(duty& what, const kg::op_row& row, kg::dtype type) {
  what.quotients = row.quotients * what.items * (type == kg::dtype::complex64 ? 2 : 1);
  what.roots = row.roots * what.items;
  // Integers are divided as the floats that hold them, magnitudes are taken in doubles.
  what.divides_doubles = type != kg::dtype::float32 && type != kg::dtype::uint8;
}

// ------------------------------------------------------------------------------------------ one call

// A kernel with all that it needs to run.
class prepared {
 public:
  prepared(const kg::op_row& row, kg::dtype type, const geometry& what)
      : row_(row), kernel_(kg::slot_of(kg::backend::simd, kg::find_op(row.name), type)), work_(what.work) {
    operands_ = kg::testkit::operands_for(row, what.call, type);
    bool has_value = false;
    for (std::size_t i = 0; i < operands_.size(); ++i)
      for (kg::tensor& x : operands_[i].tensors) {
        const bool is_value = row.operand_at(i).part == kg::role::value;
        // The table has kernels that the row does not lead to; a number next to texts stays what it is.
        if (is_value && x.type() != type && type != kg::dtype::text) x = kg::cast(x, type);
        has_value = has_value || is_value;
        if (std::find(what.unread.begin(), what.unread.end(), operands_[i].name) == what.unread.end())
          read_ += bytes(x.signature());
        in_.push_back({const_cast<void*>(x.address()), x.dims(), x.type()});
      }
    for (const kg::attr_spec& spec : row.attrs) attrs_.push_back(kg::default_of(spec));
    for (const kg::named_attribute& a : kg::testkit::attributes_for(row, what.call, type))
      attrs_[static_cast<std::size_t>(row.attr_index(a.name))] = a.value;
    // Without a value the dtype is an attribute.
    if (const int at = row.attr_index("dtype"); at >= 0 && !has_value) attrs_[static_cast<std::size_t>(at)] = type;
    call_ =
        std::make_unique<kg::inference>(kg::inference{row, in_, attrs_, type, kg::result_of(type, row.types.after)});
    row.infer(*call_);
    for (int k = 0; k < call_->out.size(); ++k) {
      kg::signature& y = call_->out[k];
      if (row.operands.empty() && row.attr_index("dtype") < 0)
        y.type = type;  // LinSpace gives float32, its kernel both
      written_ += bytes(y);
      results_.push_back(kg::zeros(y.dims, y.type));
      out_.push_back({const_cast<void*>(results_.back().address()), y.dims, y.type});
    }
  }

  void run() {
    if (kernel_.flat1 && row_.attrs.empty())
      kernel_.flat1(in_[0].data, out_[0].data, static_cast<std::size_t>(out_[0].dims.size()));
    else if (kernel_.flat2 && in_.size() == 2)
      kernel_.flat2(in_[0].data, in_[1].data, out_[0].data, static_cast<std::size_t>(out_[0].dims.size()));
    else launch();
  }

  double read() const { return read_; }
  double written() const { return written_; }
  double operations() const { return work_ * row_.cost; }
  /// Elements of the largest operand or result.
  double items() const {
    double most = 0;
    for (const auto* side : {&in_, &out_})
      for (const kg::view& x : *side) most = std::max(most, static_cast<double>(x.dims.size()));
    return most;
  }

 private:
  void launch() {
    kerngrad::kernels::text_writer texts;  // nobody reads what is made
    kg::launcher_of(row_)({*call_, kernel_, kg::backend::simd, true, in_, out_, &texts});
  }
  static double bytes(const kg::signature& x) {
    return static_cast<double>(x.dims.size()) * static_cast<double>(kg::size_of(x.type));
  }

  const kg::op_row& row_;
  kg::kernel_slot kernel_;
  double work_, read_ = 0, written_ = 0;
  std::vector<kg::named_operand> operands_;
  std::vector<kg::tensor> results_;
  std::vector<kg::attr_value> attrs_;
  std::vector<kg::view> in_, out_;
  std::unique_ptr<kg::inference> call_;
};

// The targets of one case come one after the other and share its operands.
prepared& operands_of(const std::string& name, const kg::op_row& row, kg::dtype type, const geometry& what) {
  static std::string last;
  static std::unique_ptr<prepared> kept;
  if (!kept || last != name) {
    kept = nullptr;  // before the next one takes memory
    kept = std::make_unique<prepared>(row, type, what);
    last = name;
  }
  return *kept;
}

void measure(benchmark::State& state, const kg::op_row& row, prepared& kernel, kg::dtype type,
             const kerngrad::kernels::target& target) {
  kernel.run();  // code and memory are there before the clock starts
  for (auto _ : state) {
    kernel.run();
    benchmark::ClobberMemory();
  }
  duty what{kernel.items(),
            kernel.operations(),
            kernel.read(),
            kernel.written(),
            kernel.read() + kernel.written(),
            kg::size_of(type),
            kg::kind_of(type) >= kg::dtype_kind::half};
  add_division(what, row, type);
  report(state, what, std::string(kg::name_of(row.group)), target);
}

void register_kernel(const kg::op_row& row, kg::dtype type, const selection& chosen) {
  const geometries variants = calls_of(row, type, 1000);
  for (std::size_t v = 0; v < variants.size(); ++v)
    for (std::int64_t n : chosen.sizes) {
      const std::string& variant = variants[v].variant;
      const std::string name =
          std::string(row.name) + "<" + short_name(type) + ">" + (variant.empty() ? "" : "/" + variant);
      const std::string size = "/n:" + std::to_string(n);
      for (const auto& target : chosen.targets) {
        const std::string full_name = name + "/target:" + target.name + size;
        if (!chosen.takes(full_name)) continue;
        benchmark::RegisterBenchmark(full_name.c_str(),
                                     [&row, type, v, n, target, key = name + size](benchmark::State& state) {
                                       if (!pin(state, target)) return;
                                       prepared& kernel = operands_of(key, row, type, calls_of(row, type, n)[v]);
                                       measure(state, row, kernel, type, target);
                                     });
      }
    }
}

}  // namespace
}  // namespace kgbench

int main(int argc, char** argv) {
  return kgbench::run(argc, argv, [](const kgbench::selection& chosen) {
    if (!chosen.list_only)
      for (const auto& target : chosen.targets) kgbench::describe_roofs(target);
    for (const kg::op_row& row : kg::op_table)
      for (int t = 0; t < kg::dtype_count; ++t) {
        const kg::dtype type = static_cast<kg::dtype>(t);
        if (kg::slot_of(kg::backend::simd, kg::find_op(row.name), type).exists())
          kgbench::register_kernel(row, type, chosen);
      }
    kgbench::register_updates(chosen);
  });
}
