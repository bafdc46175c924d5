// The optimizers of a step, with their names and PyTorch's variants of each. An optimizer is a row
// here and an update in shape/recipe/optimizers/.
//
// Public header.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace symprof {

enum class Optimizer : std::uint8_t {
  none,
  sgd,
  sgd_momentum,
  adam,
  adamw,
  rmsprop,
  adafactor,
  lion,
  adagrad,
};

/// PyTorch's implementation of an update: a loop over the parameters, calls on lists of them, or
/// one fused kernel for all.
enum class OptimizerVariant : std::uint8_t { single, foreach, fused };

/// An optimizer's name and its variants. The first variant is the default for parameters on CUDA
/// (the functional forms at the ends of torch/optim/{sgd,adam,rmsprop,adagrad,_adafactor}.py). Lion
/// is from the package lion-pytorch, with one variant.
struct OptimizerInfo {
  std::string_view name;
  Optimizer optimizer = Optimizer::none;
  std::array<OptimizerVariant, 3> variants{};
  std::size_t variant_count = 0;
};

inline constexpr auto foreach_variant = OptimizerVariant::foreach;
inline constexpr auto single_variant = OptimizerVariant::single;
inline constexpr auto fused_variant = OptimizerVariant::fused;

inline constexpr OptimizerInfo optimizers[] = {
    {"none", Optimizer::none, {}, 0},
    {"sgd", Optimizer::sgd, {foreach_variant, single_variant, fused_variant}, 3},
    {"sgd_momentum", Optimizer::sgd_momentum, {foreach_variant, single_variant, fused_variant}, 3},
    {"adam", Optimizer::adam, {foreach_variant, single_variant, fused_variant}, 3},
    {"adamw", Optimizer::adamw, {foreach_variant, single_variant, fused_variant}, 3},
    {"rmsprop", Optimizer::rmsprop, {foreach_variant, single_variant}, 2},
    {"adafactor", Optimizer::adafactor, {single_variant, foreach_variant}, 2},
    {"lion", Optimizer::lion, {single_variant}, 1},
    {"adagrad", Optimizer::adagrad, {foreach_variant, single_variant, fused_variant}, 3},
};

/// The row of `optimizer` in `optimizers`.
constexpr const OptimizerInfo& info_of(Optimizer optimizer) {
  for (const OptimizerInfo& info : optimizers)
    if (info.optimizer == optimizer) return info;
  return optimizers[0];
}

/// The optimizer's variants; none for Optimizer::none.
constexpr std::span<const OptimizerVariant> variants_of(Optimizer optimizer) {
  const OptimizerInfo& info = info_of(optimizer);
  return std::span(info.variants).first(info.variant_count);
}

/// True if `optimizer` has `variant`.
constexpr bool has_variant(Optimizer optimizer, OptimizerVariant variant) {
  for (const OptimizerVariant existing : variants_of(optimizer))
    if (existing == variant) return true;
  return false;
}

}  // namespace symprof
