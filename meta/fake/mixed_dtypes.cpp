#include "meta/fake/mixed_dtypes.h"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>

#include "meta/fake/convert.h"

namespace symprof::meta {
namespace {

struct Rule {
  std::string_view op;
  std::uint32_t arguments;
};

constexpr std::uint32_t arguments_at(std::initializer_list<unsigned> positions) {
  std::uint32_t bits = 0;
  for (const unsigned position : positions) bits |= 1U << position;
  return bits;
}

/// Operators whose kernels read all operands with the first one's dtype: native/cuda/Blas.cpp
/// (products), cudnn/ConvShared.cpp (checkAllSameType), native/Blas.cpp (dot_check),
/// cuda/layer_norm_kernel.cu, cuda/group_norm_kernel.cu (const_data_ptr<T>).
constexpr std::array rules = {
    Rule{"aten::mm", arguments_at({0, 1})},
    Rule{"aten::bmm", arguments_at({0, 1})},
    Rule{"aten::mv", arguments_at({0, 1})},
    Rule{"aten::dot", arguments_at({0, 1})},
    Rule{"aten::vdot", arguments_at({0, 1})},
    Rule{"aten::addmm", arguments_at({0, 1, 2})},
    Rule{"aten::addmm_", arguments_at({0, 1, 2})},
    Rule{"aten::_addmm_activation", arguments_at({0, 1, 2})},
    Rule{"aten::addmv", arguments_at({0, 1, 2})},
    Rule{"aten::addmv_", arguments_at({0, 1, 2})},
    Rule{"aten::addbmm", arguments_at({0, 1, 2})},
    Rule{"aten::addbmm_", arguments_at({0, 1, 2})},
    Rule{"aten::baddbmm", arguments_at({0, 1, 2})},
    Rule{"aten::baddbmm_", arguments_at({0, 1, 2})},
    Rule{"aten::convolution", arguments_at({0, 1, 2})},
    Rule{"aten::_convolution", arguments_at({0, 1, 2})},
    Rule{"aten::convolution_overrideable", arguments_at({0, 1, 2})},
    Rule{"aten::cudnn_convolution", arguments_at({0, 1})},
    Rule{"aten::cudnn_convolution_transpose", arguments_at({0, 1})},
    Rule{"aten::_scaled_dot_product_flash_attention", arguments_at({0, 1, 2})},
    Rule{"aten::_scaled_dot_product_efficient_attention", arguments_at({0, 1, 2})},
    Rule{"aten::_scaled_dot_product_cudnn_attention", arguments_at({0, 1, 2})},
    Rule{"aten::native_layer_norm", arguments_at({0, 2, 3})},
    Rule{"aten::native_group_norm", arguments_at({0, 1, 2})},
};

}  // namespace

MixedDTypes::MixedDTypes(std::string problem)
    : Error("", std::move(problem), "Cast one of them in the model.") {}

std::uint32_t arguments_of_one_dtype(const c10::FunctionSchema& schema) {
  if (!schema.overload_name().empty()) return 0;  // Overloads with an `out` or a dtype argument.
  const auto* rule = std::ranges::find(rules, std::string_view(schema.name()), &Rule::op);
  return rule == rules.end() ? 0 : rule->arguments;
}

void check_one_dtype(const c10::FunctionSchema& schema, const torch::jit::Stack& stack,
                     std::size_t first, std::uint32_t arguments) {
  std::optional<at::ScalarType> dtype;
  for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::IValue& value = stack[first + i];
    if ((arguments >> i & 1U) == 0 || !value.isTensor() || !value.toTensor().defined()) continue;
    const at::ScalarType found = value.toTensor().scalar_type();
    if (dtype && *dtype != found)
      throw MixedDTypes(fmt::format("{} is given {} and {}: CUDA refuses operands of two dtypes",
                                    schema.name(), name(dtype_of(*dtype)), name(dtype_of(found))));
    dtype = found;
  }
}

}  // namespace symprof::meta
