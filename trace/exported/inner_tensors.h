// Weights that are tensor subclasses (torchao's quantized weights, DTensors): a file names the
// subclass as the parameter and reads the tensors in it by their attributes.
#pragma once

#include "trace/graph/graph.h"

namespace symprof::trace::exported {

/// Puts the tensors that nodes read out of a subclass in its place, "0.weight.qdata", and takes
/// those nodes away. A subclass whose tensors are all that is read takes no memory of its own.
void read_inner_tensors(Graph& graph);

}  // namespace symprof::trace::exported
