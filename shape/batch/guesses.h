// Sizes that no operand tells: which of them may be the batch.
#pragma once

#include <span>
#include <vector>

#include "shape/batch/choices.h"

namespace symprof::shape {

/// What `list` may become where each of `open` (indices into it) may be a multiple of the batch.
/// The likeliest first: the first number that is the batch itself, then the next one, none, several
/// of them, and last those that are another multiple. `none_first`: none is the likeliest.
std::vector<Choice> guesses(const SizeList& list, std::span<const std::size_t> open,
                            bool none_first, const Batches& batches);

}  // namespace symprof::shape
