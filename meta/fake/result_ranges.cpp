#include "meta/fake/result_ranges.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "meta/fake/fake_tensor.h"
#include "meta/fake/known_values.h"
#include "meta/fake/range_arithmetic.h"

namespace symprof::meta {
namespace {

/// Converts bounds to `type`: integers, truth values, or rounded to low precision.
ValueRange converted(const ValueRange& range, at::ScalarType type) {
  if (type == at::kBool) return ranges::as_truth(range);
  if (at::isIntegralType(type, /*includeBool=*/false)) return ranges::rising<std::trunc>(range);
  if (type == at::kFloat || type == at::kDouble) return range;
  constexpr double rounding = 1.0 / 8;  // For mantissas of three or more bits, in both directions.
  const auto wider = [](double number, double way) {
    return number + way * std::abs(number) * rounding;
  };
  const auto is_exact = [](double number) {
    return std::trunc(number) == number && (std::abs(number) <= 8 || std::isinf(number));
  };
  return between(is_exact(range.low) ? range.low : wider(range.low, -1),
                 is_exact(range.high) ? range.high : wider(range.high, 1), range.likely);
}

}  // namespace

BoundedResults::BoundedResults(const c10::OperatorHandle& op,
                               std::span<const c10::IValue> arguments,
                               std::span<const c10::IValue> results) {
  if (results.empty() || !std::ranges::all_of(results, &c10::IValue::isTensor)) return;
  const ResultRanges ranges = range_rule(op.schema().name())(RangeCall(op, arguments, results));
  for (std::size_t i = 0; i < std::min(results.size(), ranges.size()); ++i) {
    const c10::AliasInfo* alias = op.schema().returns()[i].alias_info();
    const at::Tensor& tensor = results[i].toTensor();
    const bool is_view = alias != nullptr && !alias->isWrite();
    if (!is_view && is_fake(tensor)) add(tensor, ranges[i], alias != nullptr);
  }
}

// If only a part of a storage is written, the storage has bounds only if both parts have.
void BoundedResults::add(const at::Tensor& tensor, const ValueRange& range, bool is_written) {
  ValueRange bounds = converted(range, tensor.scalar_type());
  if (is_written && !is_whole_storage(tensor)) {
    const ValuesBeside* beside = values_beside(tensor);
    const bool has_bounds = beside != nullptr && beside->range && !beside->numbers;
    bounds = has_bounds ? both(*beside->range, bounds) : ValueRange{};
  }
  if (bounds.is_bounded()) results_.push_back({tensor, bounds});
}

void BoundedResults::keep() const {
  for (const auto& [tensor, range] : results_) {
    if (!range.is_number() || tensor.numel() > most_followed_floats || !is_whole_storage(tensor)) {
      set_range(tensor, range);
      continue;
    }
    const OnRealTensors on_real_tensors;
    give_values(tensor, at::full(tensor.sizes(), range.low,
                                 at::TensorOptions(tensor.scalar_type()).device(at::kCPU)));
  }
}

}  // namespace symprof::meta
