// Casts of a file that was given another dtype, where the file does not show whose word they are.
#pragma once

#include "record/recording.h"
#include "trace/graph/graph.h"

namespace symprof::shape {

/// Puts a warning into `recording`, a run of `graph`, about those of Graph::guessed_dtypes for
/// which another guess gives another dtype. A cast back from a wider dtype is none: it does
/// something.
void warn_of_guessed_casts(const Graph& graph, Recording& recording);

/// The same of a run under autocast and Graph::kept_casts: of those that did something in it.
void warn_of_kept_casts(const Graph& graph, Recording& recording);

}  // namespace symprof::shape
