// Views that a file can only do on the device that it was exported on.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

namespace symprof::shape {

/// Copies the input of aten::view in `stack` where its strides allow no such view, and tells
/// whether it did. torch.export drops a `.contiguous()` that changes nothing where it traces, and
/// kernels of another device lay their results out in another way: the model has the copy there.
bool make_viewable(const std::string& op, std::vector<c10::IValue>& stack);

}  // namespace symprof::shape
