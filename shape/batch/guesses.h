// Guesses for sizes that no operand determines: which of them are the batch.
#pragma once

#include <span>
#include <vector>

#include "shape/batch/choice.h"

namespace symprof::shape {

/// Candidates for `list` if each of `open` (indices into it) may be a multiple of the batch, the
/// most likely first: the first number equal to the batch, then the next one, none, two of them,
/// and last other multiples. `none_first`: none is the most likely.
std::vector<Choice> guesses(const SizeList& list, std::span<const std::size_t> open,
                            bool none_first, const Batches& batches);

}  // namespace symprof::shape
