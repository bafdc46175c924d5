// The tensors in an argument or a result: a single one, or a list's elements.
#pragma once

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <optional>
#include <utility>

namespace symprof::meta {

/// Calls `visit(tensor)` for each, including undefined ones.
template <class Visit>
void for_each_tensor(const c10::IValue& value, Visit&& visit) {
  if (value.isTensor()) {
    visit(value.toTensor());
  } else if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorList()) visit(tensor);
  } else if (value.isOptionalTensorList()) {
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorList())
      visit(tensor.has_value() ? *tensor : at::Tensor());
  }
}

/// Replaces each by `convert(tensor)`.
template <class Convert>
void convert_tensors(c10::IValue& value, Convert&& convert) {
  if (value.isTensor()) {
    value = convert(value.toTensor());
  } else if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& tensor : value.toTensorList()) list.push_back(convert(tensor));
    value = std::move(list);
  } else if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> list;
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorList())
      list.push_back(tensor.has_value() ? std::optional(convert(*tensor)) : std::nullopt);
    value = std::move(list);
  }
}

}  // namespace symprof::meta
