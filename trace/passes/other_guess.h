// Correcting a guessed dtype (trace/python/dtypes/recorded_dtypes.h) after an error.
#pragma once

#include <span>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Call it if CUDA refuses a call of the graph because its operands have several dtypes. `origins`
/// are the values that first had each of these dtypes. The real model runs in its dtype, so if one
/// of them was guessed, the guess was wrong. Changes that guess and equal ones of the same line,
/// once. Returns false if none was guessed, and for a graph that was not cast.
///
/// If both were guessed, a parameter or buffer that was cast stays in the file's dtype
/// (`inv_freq.float() @ positions.float()`); otherwise the value that stayed takes the model's
/// dtype.
///
/// If the call is in a nested graph (of a checkpointed module), `nested_in` are the nodes around
/// it, the outermost last, and `origins` are values of that graph.
bool take_other_guess(Graph& graph, std::span<const ValueId> origins,
                      std::span<const std::size_t> nested_in = {});

}  // namespace symprof::trace
