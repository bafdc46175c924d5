// What follows from the words that an engine has for a tensor or a layer.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/engine.h"

namespace symprof::engine {

/// What the tensor takes in memory, with the channels that its layout adds. Empty where sizes or
/// dtype are not known, or the product does not fit into 64 bits.
std::optional<std::int64_t> bytes(const Tensor& tensor);

/// Whether a kernel runs for the layer. Types that a file does not give may run one.
bool has_kernel(const Layer& layer);
/// Whether the layer was put in to change the format or the dtype of a tensor, and is no node of
/// the model.
bool is_reformat(const Layer& layer);
/// Whether the layer is a Q or DQ of the model that no other layer took in, and that a kernel runs
/// for: its origin says so, or its name alone.
bool is_lone_quantizer(const Layer& layer);

}  // namespace symprof::engine
