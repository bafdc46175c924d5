// Buffers that a file updates as in training.
#pragma once

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Warns if a graph in evaluation writes a whole buffer, such as running statistics: Python's `if
/// self.training:` chose that code at export, and no operator shows it. Writes of a part of a
/// buffer (a key-value cache) are left out, and so are batch norm and its count of batches, which
/// set_training_mode() has switched.
void warn_of_training_updates(Graph& graph);

}  // namespace symprof::trace
