// Candidate values for the numbers of one node when the graph runs with another batch.
#pragma once

#include "shape/batch/choice.h"

namespace symprof::shape {

/// The candidates for the sizes of `node`. Throws Error if the node works on single samples or on
/// parts of the batch: then the graph differs for each batch. `taken` has the samples that earlier
/// nodes selected.
Choices choices_of(const Node& node, const SizedOperator& sized, const Surroundings& surroundings,
                   TakenSamples& taken);

/// Throws Error if a nested graph creates tensors with the size of the batch: a nested graph does
/// not show if that size is the batch.
void check_nested_sizes(const Graph& graph, const Batches& batches);

}  // namespace symprof::shape
