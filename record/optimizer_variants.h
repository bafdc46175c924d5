// Which forms of an optimizer's step there are.
#pragma once

#include <span>

#include "record/step_options.h"

namespace symprof {

inline constexpr OptimizerVariant variants_of_adam[] = {
    OptimizerVariant::foreach, OptimizerVariant::single, OptimizerVariant::fused};
inline constexpr OptimizerVariant variants_of_rmsprop[] = {OptimizerVariant::foreach,
                                                           OptimizerVariant::single};
inline constexpr OptimizerVariant variants_of_adafactor[] = {OptimizerVariant::single,
                                                             OptimizerVariant::foreach};
inline constexpr OptimizerVariant variants_of_lion[] = {OptimizerVariant::single};

/// The first is what runs for parameters on CUDA when none is asked for (the functional forms at
/// the ends of torch/optim/{sgd,adam,rmsprop,_adafactor}.py). Lion is that of the package
/// lion-pytorch, which has one.
constexpr std::span<const OptimizerVariant> variants_of(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::none:
      return {};
    case Optimizer::sgd:
    case Optimizer::sgd_momentum:
    case Optimizer::adam:
    case Optimizer::adamw:
      return variants_of_adam;
    case Optimizer::rmsprop:
      return variants_of_rmsprop;
    case Optimizer::adafactor:
      return variants_of_adafactor;
    case Optimizer::lion:
      return variants_of_lion;
  }
  return {};
}

constexpr bool has_variant(Optimizer optimizer, OptimizerVariant variant) {
  for (const OptimizerVariant existing : variants_of(optimizer))
    if (existing == variant) return true;
  return false;
}

/// Of an optimizer; what "none" answers means nothing.
constexpr OptimizerVariant variant_of(const StepOptions& options) {
  if (options.optimizer_variant || options.optimizer == Optimizer::none)
    return options.optimizer_variant.value_or(OptimizerVariant::foreach);
  return variants_of(options.optimizer).front();
}

}  // namespace symprof
