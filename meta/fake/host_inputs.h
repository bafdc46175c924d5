// Arguments that PyTorch wants in host memory even where all else lies on a GPU: they are read
// before anything runs. A program moves them there (`lengths.cpu()`), but a graph puts all tensors
// on one device.
#pragma once

#include <ATen/core/ivalue.h>

#include <string_view>
#include <vector>

namespace symprof::meta {

/// Puts the known values of a fake tensor in its place where `op` ("aten::lstm.data", with its
/// overload) reads it in host memory. Throws Error where a list of unknown values is wanted.
void move_host_inputs(std::string_view op, std::vector<c10::IValue>& arguments);

}  // namespace symprof::meta
