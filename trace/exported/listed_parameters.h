// Parameters that a module reaches through a list of Python's, and that an export takes for others.
#pragma once

#include "trace/graph/graph.h"

namespace symprof::trace::exported {

/// Gives the readers of a constant the parameter that it is. A module may keep its parameters in a
/// list besides their attributes (`self.scales.append(scale); setattr(self, "scale_0", scale)`).
/// The exporter knows tensors by their attributes: what comes from the list is a constant of no
/// name
/// ("lifted_tensor_3", torch/_export/passes/lift_constants_pass.py), a second tensor in the file,
/// while nothing reads the parameter. In PyTorch both are one tensor, which `module.to()` moves and
/// casts in place.
///
/// A tensor that the code itself makes of numbers (`torch.tensor(2.0)`) is copied at its line
/// (`lift_fresh_copy`) and stays. Of the others as many have to be of one dtype and shape as there
/// are parameters of these that nothing reads: else the file does not tell which is which, and
/// nothing changes.
void read_listed_parameters(Graph& graph);

}  // namespace symprof::trace::exported
