// States that torch.optim's optimizers keep for each parameter and create in their first update.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "record/optimizers.h"

namespace symprof {

struct OptimizerStates {
  /// A state of the parameter's size, initially zero.
  struct Tensor {
    std::string_view name;
    std::string_view option;  ///< The option of the parameter group that has to be set; else empty.
  };

  Optimizer optimizer = Optimizer::none;
  std::string_view torch_class{};  ///< In torch.optim; empty if the first update creates no state.
  bool counts_steps = false;       ///< Has a "step" state, which comes first.
  std::array<Tensor, 3> all{};     ///< In order of creation.
  std::size_t count = 0;

  std::span<const Tensor> tensors() const { return std::span(all).first(count); }
};

/// From _init_group() in torch/optim/{sgd,adam,rmsprop}.py. Adagrad creates its states in its
/// constructor (adagrad.py).
inline constexpr OptimizerStates known_optimizer_states[] = {
    {.optimizer = Optimizer::none},
    {.optimizer = Optimizer::sgd},
    {Optimizer::sgd_momentum, "SGD", false, {{{"momentum_buffer", "momentum"}}}, 1},
    {Optimizer::adam,
     "Adam",
     true,
     {{{"exp_avg", ""}, {"exp_avg_sq", ""}, {"max_exp_avg_sq", "amsgrad"}}},
     3},
    {Optimizer::adamw,
     "AdamW",
     true,
     {{{"exp_avg", ""}, {"exp_avg_sq", ""}, {"max_exp_avg_sq", "amsgrad"}}},
     3},
    {Optimizer::rmsprop,
     "RMSprop",
     true,
     {{{"square_avg", ""}, {"momentum_buffer", "momentum"}, {"grad_avg", "centered"}}},
     3},
    {.optimizer = Optimizer::adagrad},
};

/// Null if the states are unknown.
constexpr const OptimizerStates* states_of(Optimizer optimizer) {
  for (const OptimizerStates& states : known_optimizer_states)
    if (states.optimizer == optimizer) return &states;
  return nullptr;
}

}  // namespace symprof
