// One rank of a pipeline: its stages out of a graph of the whole model, as a user of
// torch.distributed.pipelining cuts a module by hand.
#pragma once

#include <string_view>

#include "record/parallel_options.h"
#include "trace/graph/graph.h"
#include "trace/graph/recorded_specs.h"

namespace symprof::trace {

/// A node of this operator begins a stage: it makes what the stage before sends, of the sizes and
/// the dtype that it is given, and says whether that has a gradient.
inline constexpr std::string_view pipeline_receive = "pipeline::receive";

/// Keeps the nodes of the rank's stages. A stage has as many of `options.blocks` as the others, one
/// more or less, and what follows them until the next block; the first one has what comes before.
/// What a stage needs of earlier ones is received by nodes before all others of it where parameters
/// went into it; else it is computed again, from inputs and buffers. What later stages need are
/// outputs, those of the last stage come last. Inputs of the file stay: each rank has the whole
/// batch. `specs` are those of `graph`. Throws Error where there are fewer blocks than stages, and
/// where one that comes later needs what is no tensor.
void keep_stages(Graph& graph, const PipelineOptions& options, const ValueSpecs& specs);

}  // namespace symprof::trace
