// Outputs that CUDA operators leave in host memory.
#pragma once

#include <cstddef>
#include <string_view>

namespace symprof::kernels {

/// Whether output `index` of `op` ("aten::mm") lies on the CPU although the inputs lie on the GPU.
/// A shape kernel cannot say so itself: all its outputs are meta tensors.
bool output_is_on_host(std::string_view op, std::size_t index);

}  // namespace symprof::kernels
