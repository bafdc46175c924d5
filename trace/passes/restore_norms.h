// Batch norms that an exporter folded, for training.
#pragma once

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Puts the norms in graph.export_record.folded_norms behind the layers that have their weights,
/// with parameters and statistics of their own; the layers get the bias that the model gives them.
/// Norms that the file does not tell enough of are named in a warning.
void restore_norms(Graph& graph);

}  // namespace symprof::trace
