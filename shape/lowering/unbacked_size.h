// Unbacked (data-dependent) sizes of results of operators on fake tensors.
#pragma once

#include <string>

#include "shape/lowering/lowering.h"

namespace symprof::lowering {

/// The number used for `what` ("how many boxes stay"), at most `most`: the upper bound, if the
/// current mode's observer takes upper bounds. Throws Error otherwise.
std::int64_t unbacked_size(const OnnxCall& call, std::int64_t most, const std::string& what);

/// A tensor on the call's device with unknown values: data-dependent indices.
at::Tensor unknown_indices(const OnnxCall& call, at::IntArrayRef sizes);

}  // namespace symprof::lowering
