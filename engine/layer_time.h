// The estimated time of a layer from the model of kernel times.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/engine.h"
#include "engine/summary.h"
#include "profile/time/time_model.h"

namespace symprof::engine {

/// The layer as one kernel: a convolution with its sizes, a matrix product with k from `flops` (of
/// its nodes; may be empty), attention if `flops` agree with it, a copy for a reformat, else a
/// stream of its bytes. 8-bit products count as 16-bit ones of half the length. Empty if a size is
/// unknown, and for kernels that may hold several products.
std::optional<profile::Kernel> kernel_of(const Layer& layer, const LayerFigures& figures,
                                         const std::optional<std::int64_t>& flops);

}  // namespace symprof::engine
