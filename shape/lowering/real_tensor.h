// Constants of a graph as tensors with data.
#pragma once

#include <ATen/core/Tensor.h>

#include "trace/graph/graph.h"

namespace symprof::lowering {

/// The data of `constant` as a real CPU tensor. Throws Error when the data is not as long as its
/// spec says.
at::Tensor real_tensor(const ConstantTensor& constant);

}  // namespace symprof::lowering
