// Arguments that PyTorch needs in host memory even if all others are on a GPU: they are read before
// the kernel runs. A program moves them there (`lengths.cpu()`), but a graph has all tensors on one
// device.
#pragma once

#include <ATen/core/ivalue.h>

#include <string_view>
#include <vector>

namespace symprof::meta {

/// Replaces a fake tensor by its known values if `op` ("aten::lstm.data", with its overload) reads
/// it in host memory. Throws Error if a list of unknown values is needed.
void move_host_inputs(std::string_view op, std::vector<c10::IValue>& arguments);

}  // namespace symprof::meta
