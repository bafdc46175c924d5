// Guesses for sizes that no operand determines: which of them are the batch.
#pragma once

#include <span>
#include <vector>

#include "shape/batch/choice.h"

namespace symprof::shape {

/// Which sizes of `list` to scale with the batch, where `open` (indices into it) are those that are
/// a multiple of the batch and so may be meant by it. Candidates, the most likely first: one size
/// that equals the batch, in order; no size; two sizes that equal it; sizes that are larger
/// multiples. `none_first`: "no size" comes first.
std::vector<Choice> guesses(const SizeList& list, std::span<const std::size_t> open,
                            bool none_first, const Batches& batches);

}  // namespace symprof::shape
