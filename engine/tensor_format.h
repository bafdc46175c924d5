// Parses a tensor's format: "Thirty-two wide channel vectorized row major Int8 format" is int8, 32
// channels side by side.
#pragma once

#include <string_view>

#include "engine/engine.h"

namespace symprof::engine {

/// Fills dtype, layout and vector width of `tensor` from `format`, a sentence or a bare type.
/// Source of the sentences: trex/activations.py of TensorRT's trt-engine-explorer.
void set_format(Tensor& tensor, std::string_view format);

/// symprof's word for a type that TensorRT calls "Half", "FP16", …; empty for none.
std::string_view dtype_of(std::string_view word);

/// Bits of one element; empty for an unknown dtype.
std::optional<std::int64_t> element_bits(std::string_view dtype);

}  // namespace symprof::engine
