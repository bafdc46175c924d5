// The multiples of a size for which a formula holds: the rounding of memory blocks and kernel tiles
// is invisible at round sizes.
#pragma once

#include <vector>

#include "plan/formulas/formula.h"

namespace symprof::plan {

/// `formulas` hold at multiples of the steps of `lines`. Tries multiples of smaller numbers, and
/// lowers `Formula::multiples` to the smallest divisor of the step at which each formula still
/// holds.
void align(std::vector<Formula>& formulas, const std::vector<SizeLine>& lines,
           SizeSamples& samples);

/// True if `formula` matches every measurement of `figure` where the formula claims to hold.
bool agrees(const Formula& formula, std::size_t figure, const SizeSamples& samples);

}  // namespace symprof::plan
