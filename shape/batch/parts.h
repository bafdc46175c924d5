// Parts of a dimension that has the batch in it: whole batches are the batch again, single samples
// are another graph for each batch.
#pragma once

#include "shape/batch/choices.h"

namespace symprof::shape {

/// As choices_of, for operators that take parts of a dimension.
Choices choices_of_parts(const Node& node, SizeUse use, const Surroundings& surroundings,
                         SizeList list, TakenSamples& taken);

}  // namespace symprof::shape
