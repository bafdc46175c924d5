// One call, as the rules of bounds see it (meta/fake/range_rules.h).
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

/// One call, by the positions and names of its schema's arguments.
class RangeCall {
 public:
  RangeCall(const c10::OperatorHandle& op, std::span<const c10::IValue> arguments,
            std::span<const c10::IValue> results)
      : op_(op), arguments_(arguments), results_(results) {}

  /// Of a tensor, of the tensors of a list, of a number; without bounds for anything else.
  ValueRange operand(std::size_t position) const;
  /// The number of an argument that is one; else `otherwise`.
  double number(std::string_view name, double otherwise) const;
  bool has(std::string_view name) const { return position_of(name).has_value(); }
  std::size_t result_count() const { return results_.size(); }
  /// Whether all of the tensors there may have bounds; a number has.
  bool may_be_bounded(std::size_t position) const;
  bool is_tensor(std::size_t position) const;
  /// Something other than None.
  bool is_given(std::size_t position) const {
    return position < arguments_.size() && !arguments_[position].isNone();
  }
  const at::Tensor& tensor(std::size_t position) const;
  bool is_same_tensor_twice() const {
    return is_tensor(0) && is_tensor(1) && tensor(0).is_same(tensor(1));
  }
  const at::Tensor& result() const { return results_.front().toTensor(); }
  /// Elements along the dimension that the argument `dim` names; all of the first operand's where
  /// it names none.
  std::int64_t reduced_elements() const;

 private:
  std::optional<std::size_t> position_of(std::string_view name) const;

  const c10::OperatorHandle& op_;
  std::span<const c10::IValue> arguments_, results_;
};

}  // namespace symprof::meta
