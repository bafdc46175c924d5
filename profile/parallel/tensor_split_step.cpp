#include "profile/parallel/tensor_split_step.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "profile/parallel/rank_recording.h"

namespace symprof::profile {
namespace {

struct FunctionalCollective {
  std::string_view name;
  CollectiveOperator op;
};
constexpr FunctionalCollective functional_collectives[] = {
    {"_c10d_functional::all_reduce", CollectiveOperator::all_reduce},
    {"_c10d_functional::all_gather_into_tensor", CollectiveOperator::all_gather},
    {"_c10d_functional::reduce_scatter_tensor", CollectiveOperator::reduce_scatter},
    {"_c10d_functional::all_to_all_single", CollectiveOperator::all_to_all},
    {"_c10d_functional::broadcast", CollectiveOperator::broadcast},
};

class TensorSplitStep {
 public:
  TensorSplitStep(Recording recording, const ParallelOptions& options)
      : options_(options), rank_(std::move(recording)) {
    find_partial_gradients();
  }

  Recording run() {
    rank_.copy_beginning();
    const auto calls = static_cast<CallId>(rank_.source().calls.size());
    while (rank_.next() < calls) {
      const CallRecord& call = rank_.source().calls[static_cast<std::size_t>(rank_.next())];
      if (call.phase == Phase::optimizer) reduce_partial(call);
      rank_.copy_call();
      note(call);
    }
    return rank_.finish(held());
  }

 private:
  void find_partial_gradients() {
    const Recording& source = rank_.source();
    std::set<StorageId> parameters;
    for (const NodeRecord& node : source.nodes)
      if (node.op == "tensor_parallel::partial")
        parameters.insert(node.parameters.begin(), node.parameters.end());
    for (std::size_t i = 0; i < source.storages.size(); ++i)
      if (source.storages[i].kind == StorageKind::gradient &&
          parameters.contains(source.storages[i].parameter))
        partial_.insert(static_cast<StorageId>(i));
  }

  std::int64_t bytes_of_tensor(const TensorRecord& tensor) const {
    if (tensor.spec == none) return 0;
    return rank_.source().specs[static_cast<std::size_t>(tensor.spec)].bytes();
  }

  /// DTensor makes a sum of a part for each operand that has to be whole.
  void reduce_partial(const CallRecord& call) {
    for (const TensorRecord& input : call.inputs) {
      if (!partial_.contains(input.storage)) continue;
      const std::int64_t bytes = bytes_of_tensor(input);
      rank_.add_collective("_c10d_functional::all_reduce", {.op = CollectiveOperator::all_reduce,
                                                            .dimension = MeshDimension::tensor,
                                                            .group_size = options_.tensor,
                                                            .input_bytes = bytes,
                                                            .output_bytes = bytes,
                                                            .node = call.node,
                                                            .needed_by = rank_.last_call() + 2});
      rank_.collectives().back().phase = Phase::optimizer;
      rank_.recording().calls.back().phase = Phase::optimizer;
      rank_.take_briefly(bytes, CommStream::compute, call.node);
    }
  }

  /// The call that was copied last.
  void note(const CallRecord& call) {
    const std::string& name = rank_.source().ops[static_cast<std::size_t>(call.op)];
    const auto* row = std::ranges::find(functional_collectives, name, &FunctionalCollective::name);
    if (row == std::end(functional_collectives) || call.inputs.empty() || call.outputs.empty())
      return;
    rank_.collectives().push_back({.op = row->op,
                                   .dimension = MeshDimension::tensor,
                                   .group_size = options_.tensor,
                                   .input_bytes = bytes_of_tensor(call.inputs[0]),
                                   .output_bytes = bytes_of_tensor(call.outputs[0]),
                                   .phase = call.phase,
                                   .node = call.node,
                                   .call = rank_.last_call(),
                                   .needed_by = rank_.last_call() + 1});
  }

  HeldByRank held() const {
    HeldByRank held;
    for (const StorageRecord& record : rank_.source().storages) {
      if (record.kind == StorageKind::parameter) held.parameter_bytes += record.bytes;
      if (record.kind == StorageKind::gradient) held.gradient_bytes += record.bytes;
      if (record.kind == StorageKind::optimizer_state) held.optimizer_bytes += record.bytes;
    }
    return held;
  }

  const ParallelOptions& options_;
  RankRecording rank_;
  std::set<StorageId> partial_;
};

}  // namespace

Recording tensor_split_step(Recording recording, const ParallelOptions& options) {
  return TensorSplitStep(std::move(recording), options).run();
}

}  // namespace symprof::profile
