// Candidate values for the numbers of one node when the graph runs with another batch.
#pragma once

#include "shape/batch/choice.h"

namespace symprof::shape {

/// Throws Error where the node works on samples one by one, or on parts of the batch: then another
/// batch is another graph. `taken` has what earlier nodes took.
Choices choices_of(const Node& node, const SizedOperator& sized, const Surroundings& surroundings,
                   TakenSamples& taken);

/// Throws Error if a nested graph creates tensors with the size of the batch: a nested graph does
/// not show if that size is the batch.
void check_nested_sizes(const Graph& graph, const Batches& batches);

}  // namespace symprof::shape
