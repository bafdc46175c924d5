// Roles of the main graph's inputs and outputs: `GraphSignature` of the export schema.
#pragma once

#include "trace/exported/archive.h"
#include "trace/exported/graph_reader.h"
#include "trace/exported/payload.h"

namespace symprof::trace::exported {

/// Gives inputs their kind and PyTorch's name (`encoder.ln.weight`), tied weights their storage
/// key and small constants their data; leaves the user's inputs in Graph::inputs.
/// Throws Error for custom objects.
void apply_inputs(ReadGraph& read, Json signature, const Archive& archive, const Payloads& weights,
                  const Payloads& constants, const Place& place);

/// Fills Graph::outputs and Graph::mutations. Throws Error for a graph with its own backward pass.
void apply_outputs(ReadGraph& read, Json signature, const Place& place);

}  // namespace symprof::trace::exported
