// Buffers that a file updates as code for training does.
#pragma once

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Warns where a graph that is to be evaluated writes a buffer as a whole, as statistics of a batch
/// are kept: Python's `if self.training:` chose that code when the file was made, and no operator
/// says so. What writes a part of a buffer (a cache of keys and values) is left out, and so are
/// batch norm and its count of batches, which set_training_mode() has switched.
void warn_of_training_updates(Graph& graph);

}  // namespace symprof::trace
