#include "profile/parallel/partial_gradients.h"

namespace symprof::profile {

PartialGradients::PartialGradients(RankRecording& rank, std::int64_t tensor_ranks)
    : rank_(rank), tensor_ranks_(tensor_ranks) {
  const Recording& source = rank.source();
  std::set<StorageId> parameters;
  for (const NodeRecord& node : source.nodes)
    if (node.op == "tensor_parallel::partial")
      parameters.insert(node.parameters.begin(), node.parameters.end());
  for (std::size_t i = 0; i < source.storages.size(); ++i)
    if (source.storages[i].kind == StorageKind::gradient &&
        parameters.contains(source.storages[i].parameter))
      partial_.insert(static_cast<StorageId>(i));
}

void PartialGradients::sum_for(const CallRecord& call) {
  for (const TensorRecord& input : call.inputs) {
    if (!contains(input.storage) || input.spec == none) continue;
    const std::int64_t bytes = rank_.source().specs[static_cast<std::size_t>(input.spec)].bytes();
    sum(bytes, call.node);
    rank_.collectives().back().phase = Phase::optimizer;
    rank_.recording().calls.back().phase = Phase::optimizer;
    rank_.take_briefly(bytes, CommStream::compute, call.node);
  }
}

void PartialGradients::sum(std::int64_t bytes, NodeId node) {
  rank_.add_collective("_c10d_functional::all_reduce", {.op = CollectiveOperator::all_reduce,
                                                        .dimension = MeshDimension::tensor,
                                                        .group_size = tensor_ranks_,
                                                        .input_bytes = bytes,
                                                        .output_bytes = bytes,
                                                        .node = node,
                                                        .needed_by = rank_.last_call() + 2});
}

}  // namespace symprof::profile
