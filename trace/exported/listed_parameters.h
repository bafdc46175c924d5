// Parameters that a module accesses through a Python list, which an export duplicates as constants.
#pragma once

#include "trace/graph/graph.h"

namespace symprof::trace::exported {

/// Replaces constants that duplicate a parameter by the parameter. A module may keep its parameters
/// in a list besides their attributes (`self.scales.append(scale); setattr(self, "scale_0",
/// scale)`). The exporter identifies tensors by attribute: an element of the list becomes an
/// unnamed constant ("lifted_tensor_3", torch/_export/passes/lift_constants_pass.py), a second
/// tensor in the file, and the parameter is unused. In PyTorch both are one tensor, which
/// `module.to()` moves and casts in place.
///
/// A tensor that code creates from numbers (`torch.tensor(2.0)`) is copied at its line
/// (`lift_fresh_copy`) and is kept. Other constants are replaced only if there are as many of one
/// dtype and shape as unused parameters: else the match is ambiguous, and nothing changes.
void read_listed_parameters(Graph& graph);

}  // namespace symprof::trace::exported
