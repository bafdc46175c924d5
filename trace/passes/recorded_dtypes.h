// The dtypes that the operators of an export name: which of them are the model's own dtype, written
// out because the exporter saw no more than that.
#pragma once

#include <optional>
#include <set>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// The floating-point dtypes of what a user can cast: parameters, buffers and inputs.
std::set<DType> model_dtypes(const Graph& graph);

/// Gives `dtype` to the operators that name one of `own` because the model has it. An export in
/// float32 writes `x.to(y.dtype)` and `x.float()` alike, as a cast to float32:
///
/// - where the line of Python is known, it tells: what it names stays, what it takes from another
///   tensor follows;
/// - else a cast that did nothing follows, and one from integers or from a narrower dtype stays;
/// - of new tensors with a dtype, sequences of numbers (arange, linspace) stay, others follow.
///
/// Nodes of the last two kinds are put into Graph::guessed_casts. Nothing has been cast yet.
void follow_dtype(Graph& graph, const std::set<DType>& own, DType dtype);

}  // namespace symprof::trace
