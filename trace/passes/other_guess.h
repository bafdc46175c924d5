// A dtype that was guessed (trace/passes/recorded_dtypes.h), guessed the other way.
#pragma once

#include <span>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// CUDA refuses a call of the graph, as its operands have several dtypes; `origins` are the values
/// that had each of these first on the way to it. The model runs in the dtype that it was given, or
/// there would be nothing to profile: so if one of those was guessed, the guess was wrong. Changes
/// it, and those like it of the same line, once; false where none of them was guessed, and for a
/// graph that was not cast.
///
/// Where both were guessed, a parameter or buffer that was cast stays in the file's dtype
/// (`inv_freq.float() @ positions.float()`), else what was left in it follows the model's.
///
/// Where the call stands in a nested graph (of a checkpointed module), `nested_in` are the nodes
/// that have it, the outermost last, and `origins` values of that graph.
bool take_other_guess(Graph& graph, std::span<const ValueId> origins,
                      std::span<const std::size_t> nested_in = {});

}  // namespace symprof::trace
