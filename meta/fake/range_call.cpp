#include "meta/fake/range_call.h"

#include <ATen/WrapDimUtils.h>

#include "meta/fake/known_values.h"
#include "meta/fake/tensors_in.h"

namespace symprof::meta {

std::optional<std::size_t> RangeCall::position_of(std::string_view name) const {
  const auto& arguments = op_.schema().arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].name() == name) return i;
  return std::nullopt;
}

ValueRange RangeCall::operand(std::size_t position) const {
  if (position >= arguments_.size()) return {};
  const c10::IValue& value = arguments_[position];
  if (value.isScalar() && !value.isComplexDouble()) return only(value.toScalar().toDouble());
  std::optional<ValueRange> range;
  for_each_tensor(value, [&](const at::Tensor& tensor) {
    const ValueRange next = range_of(tensor);
    range = range ? both(*range, next) : next;
  });
  return range.value_or(ValueRange{});
}

bool RangeCall::may_be_bounded(std::size_t position) const {
  if (position >= arguments_.size()) return false;
  bool all = true;
  for_each_tensor(arguments_[position],
                  [&](const at::Tensor& tensor) { all = all && meta::may_be_bounded(tensor); });
  return all;
}

double RangeCall::number(std::string_view name, double otherwise) const {
  const auto position = position_of(name);
  if (!position) return otherwise;
  const c10::IValue& value = arguments_[*position];
  return value.isScalar() && !value.isComplexDouble() ? value.toScalar().toDouble() : otherwise;
}

bool RangeCall::is_tensor(std::size_t position) const {
  return position < arguments_.size() && arguments_[position].isTensor() &&
         arguments_[position].toTensor().defined();
}

const at::Tensor& RangeCall::tensor(std::size_t position) const {
  return arguments_[position].toTensor();
}

std::int64_t RangeCall::reduced_elements() const {
  const at::Tensor& self = tensor(0);
  const auto position = position_of("dim");
  if (!position || !arguments_[*position].isInt()) return has("k") ? self.size(-1) : self.numel();
  return self.dim() == 0 ? 1
                         : self.size(at::maybe_wrap_dim(arguments_[*position].toInt(), self.dim()));
}

}  // namespace symprof::meta
