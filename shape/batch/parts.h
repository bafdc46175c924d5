// Slices of a dimension that contains the batch: whole batches scale with it; single samples would
// give another graph for each batch.
#pragma once

#include "shape/batch/choice.h"

namespace symprof::shape {

/// choices_of for operators that slice a dimension.
Choices choices_of_parts(const Node& node, SizeUse use, const Surroundings& surroundings,
                         SizeList list, TakenSamples& taken);

}  // namespace symprof::shape
