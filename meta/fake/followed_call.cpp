#include "meta/fake/followed_call.h"

#include <ATen/ATen.h>
#include <ATen/core/enum_tag.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "meta/fake/fake_mode.h"
#include "meta/fake/fake_tensor.h"
#include "meta/fake/known_values.h"
#include "meta/fake/result_ranges.h"
#include "meta/fake/tensors_in.h"

// From the OpenMP library loaded by LibTorch; null without one.
extern "C" {
[[gnu::weak]] int omp_get_max_threads();
[[gnu::weak]] void omp_set_num_threads(int count);
}

namespace symprof::meta {
namespace {

/// Limits OpenMP to one thread: for at most 2^20 elements, waking threads takes longer than the
/// work. The limit is per calling thread, so others are unaffected.
class OnOneThread {
 public:
  OnOneThread() {
    if (omp_set_num_threads != nullptr) omp_set_num_threads(1);
  }
  ~OnOneThread() {
    if (omp_set_num_threads != nullptr) omp_set_num_threads(before_);
  }
  OnOneThread(const OnOneThread&) = delete;
  OnOneThread& operator=(const OnOneThread&) = delete;

 private:
  int before_ = omp_get_max_threads != nullptr ? omp_get_max_threads() : 1;
};

thread_local bool follows_calls = true;

/// Operators that read only the dtype and sizes of their tensor operand.
constexpr std::string_view readers_of_geometry[] = {
    "aten::empty_like",        "aten::full_like", "aten::new_empty",
    "aten::new_empty_strided", "aten::new_full",  "aten::new_ones",
    "aten::new_zeros",         "aten::ones_like", "aten::zeros_like",
};

/// Only aten operators are evaluated: others may have side effects on the host, and may lack a CPU
/// kernel.
constexpr std::string_view own_operators = "aten::";

/// Operators whose results are uninitialized. In a graph they are assumed zero, as reading before
/// writing has no meaning. In a program they may be filled from elsewhere.
constexpr std::string_view makers_of_room[] = {
    "aten::empty",         "aten::empty_like", "aten::empty_permuted",
    "aten::empty_strided", "aten::new_empty",  "aten::new_empty_strided",
};

/// Operators that overwrite all of their first operand without reading it.
constexpr std::string_view overwriters[] = {"aten::copy_", "aten::fill_", "aten::zero_"};

bool is_among(std::span<const std::string_view> names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

std::vector<at::Tensor> tensors_of(std::span<const c10::IValue> values) {
  std::vector<at::Tensor> tensors;
  for (const c10::IValue& value : values)
    for_each_tensor(value, [&](const at::Tensor& tensor) { tensors.push_back(tensor); });
  return tensors;
}

/// True if a tensor is small enough to be evaluated. Large floating-point tensors of a program are
/// weights, data and optimizer states, which decide no control flow; small ones may be masks and
/// scales.
bool is_small(const at::Tensor& tensor) {
  const bool is_float = !at::isIntegralType(tensor.scalar_type(), /*includeBool=*/true);
  return tensor.numel() <=
         (is_in_program() && is_float ? most_followed_floats : most_followed_elements);
}

bool are_small(std::span<const c10::IValue> results) {
  return std::ranges::all_of(tensors_of(results), [](const at::Tensor& tensor) {
    return !tensor.defined() || is_small(tensor);
  });
}

/// True for a program's real tensor that is large, or a weight that training changes.
bool is_data(const at::Tensor& tensor) {
  if (is_fake(tensor) || !is_in_program()) return false;
  return !is_small(tensor) || (tensor.requires_grad() && tensor.dim() > 0);
}

bool has_values(const at::Tensor& tensor) { return assumed_values(tensor).has_value(); }

/// False for a part of a large storage: tracking it is not worth the memory.
bool can_be_overwritten(const at::Tensor& tensor) {
  return is_whole_storage(tensor) || tensor.storage().nbytes() <= most_followed_elements;
}

/// Operators that count occurrences of each number in their first operand.
constexpr std::string_view counters[] = {"aten::bincount", "aten::histc"};

/// `elements` spread over `bins` as evenly as possible: tokens of experts.
at::Tensor spread_evenly(std::int64_t elements, std::int64_t bins, at::ScalarType type) {
  const OnRealTensors on_real_tensors;
  const at::Tensor counts =
      at::full({bins}, elements / bins, at::TensorOptions(type).device(at::kCPU));
  counts.narrow(0, 0, elements % bins).add_(1);
  return counts;
}

}  // namespace

void set_following(bool follows) { follows_calls = follows; }

FollowedCall::FollowedCall(const c10::OperatorHandle& op, std::span<const c10::IValue> arguments)
    : op_(op),
      arguments_(arguments),
      reads_(is_among(readers_of_geometry, op.schema().name()) ? Reads::geometry : Reads::values),
      is_known_(follows_calls && op.schema().name().starts_with(own_operators) &&
                !op.hasTag(at::Tag::nondeterministic_seeded)) {
  if (is_in_program() && is_among(makers_of_room, op.schema().name())) is_known_ = false;
  const bool overwrites = is_among(overwriters, op.schema().name());
  for (std::size_t i = 0; is_known_ && i < arguments.size(); ++i) {
    stack_.push_back(arguments[i]);
    c10::IValue& argument = stack_.back();
    if (argument.isDevice())
      argument = c10::Device(c10::kCPU);
    else if (op.schema().arguments()[i].name() == "pin_memory")
      argument = c10::IValue();
    else
      convert_tensors(argument, [&](const at::Tensor& tensor) {
        const bool is_overwritten = overwrites && i == 0 && can_be_overwritten(tensor);
        return operand(tensor, is_overwritten ? Reads::geometry : reads_);
      });
  }
}

at::Tensor FollowedCall::operand(const at::Tensor& tensor, Reads reads) {
  if (!tensor.defined()) return tensor;
  if (!is_data(tensor))
    if (auto values = assumed_values(tensor)) {
      rests_on_assumption_ |= reads == Reads::values && !known_values(tensor);
      return *std::move(values);
    }
  is_known_ &= reads == Reads::geometry && is_small(tensor);
  if (!is_known_) return {};
  const OnRealTensors on_real_tensors;
  return at::empty(tensor.sizes(), at::TensorOptions(tensor.scalar_type()).device(at::kCPU));
}

void FollowedCall::finish(std::span<const c10::IValue> results) {
  if (is_known_ && !has_work(results)) return;
  if (is_known_ && are_small(results) && run()) return keep(results);
  if (is_in_program() && counts_elements()) return assume(results);
  const bool has_rule = follows_calls && range_rule(op_.schema().name()) != nullptr;
  if (!has_rule) return forget_written();
  const BoundedResults bounded(op_, arguments_, results);
  forget_written();
  bounded.keep();
}

// False for a view: it shares its base's values.
bool FollowedCall::has_work(std::span<const c10::IValue> results) const {
  const std::vector<at::Tensor> made = tensors_of(results);
  return op_.schema().is_mutable() || !std::ranges::all_of(made, has_values);
}

bool FollowedCall::run() try {
  const OnRealTensors on_real_tensors;
  const OnOneThread on_one_thread;
  op_.callBoxed(&stack_);
  if (is_among(makers_of_room, op_.schema().name()))
    for (at::Tensor& room : tensors_of(stack_)) room.zero_();
  return true;
} catch (const c10::IndexError&) {
  throw;
} catch (const c10::Error&) {  // No CPU kernel.
  return false;
}

void FollowedCall::keep(std::span<const c10::IValue> results) const {
  const std::vector<at::Tensor> fakes = tensors_of(results), reals = tensors_of(stack_);
  for (std::size_t i = 0; i < std::min(fakes.size(), reals.size()); ++i) {
    const at::Tensor &fake = fakes[i], &real = reals[i];
    if (!is_fake(fake) || has_values(fake) || !real.defined()) continue;
    if (fake.sizes() == real.sizes() && fake.scalar_type() == real.scalar_type())
      give_values(fake, real);
  }
  if (!rests_on_assumption_) return;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const c10::AliasInfo* alias = op_.schema().returns()[i].alias_info();
    if (alias == nullptr || alias->isWrite()) for_each_tensor(results[i], set_assumed);
  }
}

bool FollowedCall::counts_elements() const {
  const bool has_weights = arguments_.size() > 1 && arguments_[1].isTensor();
  return is_among(counters, op_.schema().name()) && !has_weights;
}

void FollowedCall::assume(std::span<const c10::IValue> results) const {
  const at::Tensor &counted = arguments_.front().toTensor(), &counts = results.front().toTensor();
  if (!follows_calls || counts.numel() == 0 || counts.numel() > most_followed_floats) return;
  give_values(counts, spread_evenly(counted.numel(), counts.numel(), counts.scalar_type()));
  set_assumed(counts);
}

void FollowedCall::forget_written() const {
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    const c10::AliasInfo* alias = op_.schema().arguments()[i].alias_info();
    if (alias == nullptr || !alias->isWrite()) continue;
    for_each_tensor(arguments_[i], [](const at::Tensor& tensor) { forget_values(tensor); });
  }
}

}  // namespace symprof::meta
