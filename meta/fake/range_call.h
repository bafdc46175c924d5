// One call, as seen by the rules for bounds (meta/fake/range_rules.h).
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "meta/fake/value_range.h"

namespace symprof::meta {

/// One call, with arguments by position and name in its schema.
class RangeCall {
 public:
  RangeCall(const c10::OperatorHandle& op, std::span<const c10::IValue> arguments,
            std::span<const c10::IValue> results)
      : op_(op), arguments_(arguments), results_(results) {}

  /// Bounds of a tensor, of a tensor list, or of a number; unbounded for anything else.
  ValueRange operand(std::size_t position) const;
  /// The argument's number; `otherwise` if it is no number.
  double number(std::string_view name, double otherwise) const;
  bool has(std::string_view name) const { return position_of(name).has_value(); }
  std::size_t result_count() const { return results_.size(); }
  /// True if all tensors of the argument may have bounds; true for a number.
  bool may_be_bounded(std::size_t position) const;
  bool is_tensor(std::size_t position) const;
  /// True if the argument is not None.
  bool is_given(std::size_t position) const {
    return position < arguments_.size() && !arguments_[position].isNone();
  }
  const at::Tensor& tensor(std::size_t position) const;
  bool is_same_tensor_twice() const {
    return is_tensor(0) && is_tensor(1) && tensor(0).is_same(tensor(1));
  }
  const at::Tensor& result() const { return results_.front().toTensor(); }
  /// The number of elements along the argument `dim`; all elements of the first operand if `dim` is
  /// not given.
  std::int64_t reduced_elements() const;

 private:
  std::optional<std::size_t> position_of(std::string_view name) const;

  const c10::OperatorHandle& op_;
  std::span<const c10::IValue> arguments_, results_;
};

}  // namespace symprof::meta
