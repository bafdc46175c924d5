// The stages of one pipeline rank, cut out of the whole model's graph, as users of
// torch.distributed.pipelining cut a module by hand.
#pragma once

#include <string_view>

#include "record/parallel_options.h"
#include "trace/graph/graph.h"
#include "trace/graph/recorded_specs.h"

namespace symprof::trace {

/// The operator at the start of a stage that receives a tensor of the previous stage, with the
/// given sizes and dtype, and tells if it has a gradient.
inline constexpr std::string_view pipeline_receive = "pipeline::receive";

/// Keeps the nodes of the rank's stages. All stages have the same number of `options.blocks`, give
/// or take one, and the nodes up to the next block; the first stage also has the nodes before the
/// first block. A value of earlier stages is received by nodes at the start if it depends on
/// parameters, and recomputed from inputs and buffers otherwise. Values that later stages need are
/// outputs; the last stage's outputs come last. Inputs of the file stay: each rank has the whole
/// batch. `specs` are those of `graph`. Throws Error if there are fewer blocks than stages, and if
/// a later stage needs a value that is not a tensor.
void keep_stages(Graph& graph, const PipelineOptions& options, const ValueSpecs& specs);

}  // namespace symprof::trace
