// Unbacked sizes: those that only data could tell, of results of operators on fake tensors.
#pragma once

#include <string>

#include "shape/lowering/lowering.h"

namespace symprof::lowering {

/// The number that stands for `what` ("how many boxes stay"), of which there can be `most`: the
/// observer of the current mode takes the upper bound. Throws Error when it does not.
std::int64_t unbacked_size(const OnnxCall& call, std::int64_t most, const std::string& what);

/// A tensor on the call's device whose values nothing knows: indices that data would have given.
at::Tensor unknown_indices(const OnnxCall& call, at::IntArrayRef sizes);

}  // namespace symprof::lowering
