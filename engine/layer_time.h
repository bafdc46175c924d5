// How long a layer should take by the project's model of kernel times.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/engine.h"
#include "engine/summary.h"
#include "profile/time/time_model.h"

namespace symprof::engine {

/// The layer as one kernel: a convolution of the sizes that it has, a product where `flops` (of its
/// nodes; may be empty) says how long its sums are, attention where they agree with it, a copy
/// where it is a reformat, else reads and writes of its bytes. Sums of 8 bits count as those of 16
/// bits of half the length. Empty where a size is not known, and for kernels that may hold several
/// products.
std::optional<profile::Kernel> kernel_of(const Layer& layer, const LayerFigures& figures,
                                         const std::optional<std::int64_t>& flops);

}  // namespace symprof::engine
