// Views that are valid only for the strides of the export device.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

namespace symprof::shape {

/// Copies the input of aten::view in `stack` if its strides do not allow the view. Returns true if
/// it copied. torch.export drops a `.contiguous()` that has no effect during tracing, but kernels
/// of another device may use another layout, for which the model does copy.
bool make_viewable(const std::string& op, std::vector<c10::IValue>& stack);

}  // namespace symprof::shape
