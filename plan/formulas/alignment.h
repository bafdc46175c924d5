// The multiples of which a size must be for a formula to hold: rounding, in blocks of memory and
// tiles of a kernel, is invisible at round sizes.
#pragma once

#include <vector>

#include "plan/formulas/formula.h"

namespace symprof::plan {

/// `formulas` hold at multiples of the steps of `lines`. Tries sizes that are multiples of less,
/// and lowers `Formula::multiples` to the least divisor of the step at which each formula still
/// holds.
void align(std::vector<Formula>& formulas, const std::vector<SizeLine>& lines,
           SizeSamples& samples);

/// True when `formula` gives what was measured of `figure` wherever it says that it holds.
bool agrees(const Formula& formula, std::size_t figure, const SizeSamples& samples);

}  // namespace symprof::plan
