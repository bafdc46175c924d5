#include "profile/parallel/partial_gradients.h"

namespace symprof::profile {

PartialGradients::PartialGradients(RankRecording& rank, std::int64_t tensor_ranks)
    : rank_(rank), tensor_ranks_(tensor_ranks) {
  const Recording& source = rank.source();
  std::set<StorageId> parameters;
  std::set<StorageId> of_words;
  for (const NodeRecord& node : source.nodes) {
    if (node.op == "tensor_parallel::partial")
      parameters.insert(node.parameters.begin(), node.parameters.end());
    if (node.op == "tensor_parallel::embedding")
      of_words.insert(node.parameters.begin(), node.parameters.end());
  }
  for (std::size_t i = 0; i < source.storages.size(); ++i) {
    const StorageRecord& storage = source.storages[i];
    if (storage.kind != StorageKind::gradient) continue;
    if (parameters.contains(storage.parameter)) partial_.insert(static_cast<StorageId>(i));
    if (of_words.contains(storage.parameter)) of_all_words_.insert(static_cast<StorageId>(i));
  }
}

void PartialGradients::place_for(const CallRecord& call) {
  for (const TensorRecord& input : call.inputs) {
    const bool is_sum = contains(input.storage);
    if ((!is_sum && !of_all_words_.contains(input.storage)) || input.spec == none) continue;
    const std::int64_t bytes = rank_.source().specs[static_cast<std::size_t>(input.spec)].bytes();
    if (is_sum) {
      sum(bytes, call.node);
      rank_.collectives().back().phase = Phase::optimizer;
    } else {
      rank_.add_call("tensor_parallel::own_words", call.node, bytes);
    }
    rank_.recording().calls.back().phase = Phase::optimizer;
    placed_.push_back(
        rank_.add_storage(bytes, StorageKind::communication, CommStream::compute, call.node));
    rank_.take(placed_.back());
  }
}

void PartialGradients::drop_placed() {
  for (; !placed_.empty(); placed_.pop_back()) rank_.give_back(placed_.back());
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
