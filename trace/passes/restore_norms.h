// Restores batch norms that an exporter folded into weights, for training.
#pragma once

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Adds the norms of graph.export_record.folded_norms after the layers that absorbed them, with
/// parameters and statistics of their own; the layers get the model's bias back. Norms that the
/// file does not describe fully are named in a warning.
void restore_norms(Graph& graph);

}  // namespace symprof::trace
