// Properties of a CUDA operator's outputs that a shape kernel cannot express: their device and
// their order of allocation.
#pragma once

#include <cstddef>
#include <string_view>

namespace symprof::meta {

/// True if output `index` of `op` ("aten::mm") is on the CPU although the inputs are on the GPU. A
/// shape kernel cannot express it: all its outputs are meta tensors.
bool output_is_on_host(std::string_view op, std::size_t index);

/// True if the outputs of `op` are allocated from last to first, which matters for the reuse of
/// cached blocks.
bool makes_outputs_backwards(std::string_view op);

}  // namespace symprof::meta
