#include "meta/fake/error_text.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/setting.h"
#include "base/values_setting.h"

namespace symprof::meta {
namespace {

/// LibTorch's error texts for limits of tensors without storage, with the problem and advice for
/// the user.
struct Limit {
  std::string_view words;
  const char* problem;
  std::string advice;
};

const Limit limits[] = {
    // nn.TransformerEncoder's fast path for a padding mask (torch/nn/modules/transformer.py)
    {"aten::_nested_tensor_from_mask", "packs sequences to their lengths, which are data",
     "Build nn.TransformerEncoder with enable_nested_tensor=False."},
    // aten/src/ATen/native/MetaFallbackKernel.cpp
    {"attempted to run this operator with Meta tensors",
     "has no shape kernel, so it cannot run on tensors without storage",
     "Write the model with other operators, or give this one a kernel for the key Meta "
     "(docs/tutorial/own_operator.md)."},
    // c10/core/TensorImpl.h
    {"its data is not allocated yet",
     "reads the values of a tensor, and a tensor without storage has none",
     "Give its values with " + values_setting() +
         " where it is an input, or make it a constant of the model."},
    // aten/src/ATen/SparseTensorImpl.h
    {"SparseTensorImpl", "makes a sparse tensor, whose size depends on data",
     "Make it dense, as nn.Embedding does with sparse=False."},
    // torch/csrc/autograd/VariableTypeUtils.h, check_inplace
    {"that requires grad is being used in an in-place operation",
     "changes a parameter, or a view of one, in place, which autograd refuses",
     "Change a clone of it, or change it under torch.no_grad(); " + setting("mode", "inference") +
         " profiles the forward pass alone."},
};

/// "aten::name.overload: " at the beginning of LibTorch's message, or "this call ".
std::string subject(const std::string& message) {
  const std::size_t end = message.starts_with("aten::") ? message.find(": ") : std::string::npos;
  return end == std::string::npos ? "this call" : message.substr(0, end);
}

/// Text in LibTorch's messages about dtypes (TORCH_CHECK in many files, and AT_DISPATCH_SWITCH in
/// ATen/Dispatch.h).
constexpr std::array<std::string_view, 7> dtype_words = {
    "dtype", "scalar type", "ScalarType", "data type", "BFloat16", "Half", "not implemented for '"};

}  // namespace

bool is_about_dtypes(std::string_view message) {
  return std::ranges::any_of(dtype_words, [&](std::string_view word) {
    return message.find(word) != std::string_view::npos;
  });
}

std::string dtype_advice(std::optional<DType> cast_to) {
  if (!cast_to)
    return fmt::format(
        "PyTorch refuses this call: cast the operand in the model, or give an input another dtype "
        "with {}.",
        setting("inputs"));
  const std::string exported = fmt::format("export the model in {}", name(*cast_to));
  if (*cast_to != DType::bfloat16 && *cast_to != DType::float16)
    return fmt::format("PyTorch refuses this call: {}.", exported);
  const char* short_name = *cast_to == DType::bfloat16 ? "bf16" : "fp16";
  return fmt::format("PyTorch refuses this call: {}, or give {} in the place of {}.", exported,
                     setting("autocast", short_name), setting("dtype", short_name));
}

std::string first_line(const std::exception& error) {
  const auto* libtorch = dynamic_cast<const c10::Error*>(&error);
  const std::string text = libtorch != nullptr ? libtorch->what_without_backtrace() : error.what();
  const std::size_t begin = std::min(text.find_first_not_of('\n'), text.size());
  return text.substr(begin, text.find('\n', begin) - begin);
}

Error refusal(std::string where, const std::exception& error, std::string advice) {
  const std::string message = first_line(error);
  for (const Limit& limit : limits)
    if (message.find(limit.words) != std::string::npos)
      return {std::move(where), subject(message) + " " + limit.problem + ".", limit.advice};
  return {std::move(where), message, std::move(advice)};
}

}  // namespace symprof::meta
