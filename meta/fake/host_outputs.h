// What a shape kernel cannot say of a CUDA operator's outputs: where they lie, and in which order
// they are made.
#pragma once

#include <cstddef>
#include <string_view>

namespace symprof::meta {

/// Whether output `index` of `op` ("aten::mm") lies on the CPU although the inputs lie on the GPU.
/// A shape kernel cannot say so itself: all its outputs are meta tensors.
bool output_is_on_host(std::string_view op, std::size_t index);

/// Whether the outputs of `op` are made from the last to the first: a cached block goes to the one
/// that asks first.
bool makes_outputs_backwards(std::string_view op);

}  // namespace symprof::meta
