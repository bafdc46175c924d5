// Casts in a model converted to another dtype, if the file does not show that the code names the
// dtype.
#pragma once

#include "record/recording.h"
#include "trace/graph/graph.h"

namespace symprof::shape {

/// Adds a warning to `recording`, a run of `graph`, about the Graph::guessed_dtypes whose
/// alternative gives another dtype. A cast back from a wider dtype is not ambiguous: it has an
/// effect.
void warn_of_guessed_casts(const Graph& graph, Recording& recording);

/// As above for a run under autocast and Graph::kept_casts: reports the casts that had an effect.
void warn_of_kept_casts(const Graph& graph, Recording& recording);

}  // namespace symprof::shape
