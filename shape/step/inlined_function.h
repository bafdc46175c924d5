// Custom autograd functions, of which an export contains only the forward pass.
#pragma once

#include "base/error.h"
#include "record/recording.h"
#include "trace/graph/graph.h"

namespace symprof::shape {

/// `error` reports that a tensor saved by autograd for `node` was modified. In an exported program
/// the likely cause is a torch.autograd.Function: torch.export inlines its forward pass and drops
/// its backward pass. Returns the error with advice about this.
Error with_cause_in_export(const Error& error, const Graph& graph, const NodeRecord& node);

/// Adds a warning to `recording`, a training step of `graph`, if Python lines show custom autograd
/// functions, with their number of calls: these are counted with autograd's own backward pass.
void warn_of_inlined_functions(const Graph& graph, Recording& recording);

}  // namespace symprof::shape
