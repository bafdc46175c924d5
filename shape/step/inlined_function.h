// Functions with a backward pass of their own, of which an export has the forward pass alone.
#pragma once

#include "base/error.h"
#include "record/recording.h"
#include "trace/graph/graph.h"

namespace symprof::shape {

/// `error` says that a tensor which autograd saved for `node` was changed. In an exported program
/// that is likely to come from a torch.autograd.Function: torch.export writes its forward pass out
/// and drops its backward pass. Returns the error with an advice that says so.
Error with_cause_in_export(const Error& error, const Graph& graph, const NodeRecord& node);

/// Puts a warning into `recording`, a step that trains `graph`, where lines of Python show such
/// functions, and how many calls they are: these are counted with the backward pass that autograd
/// makes of them.
void warn_of_inlined_functions(const Graph& graph, Recording& recording);

}  // namespace symprof::shape
