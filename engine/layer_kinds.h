// Kinds of layers and sizes of tensors, derived from the engine's names for them.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/engine.h"

namespace symprof::engine {

/// Bytes of the tensor in memory, including channels that its layout pads. Empty if a size or the
/// dtype is unknown, or if the product does not fit into 64 bits.
std::optional<std::int64_t> bytes(const Tensor& tensor);

/// True if a kernel runs for the layer; a layer of unknown type is assumed to run one.
bool has_kernel(const Layer& layer);
/// True if the builder inserted the layer to change a tensor's format or dtype: no node of the
/// model is in it.
bool is_reformat(const Layer& layer);
/// True if the layer is a Q or DQ of the model that was not fused into another layer and for which
/// a kernel runs: its origin says so, or its name alone.
bool is_lone_quantizer(const Layer& layer);

}  // namespace symprof::engine
