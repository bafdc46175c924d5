#include "profile/parallel/gradient_reduction.h"

#include <utility>

#include "profile/parallel/pointer_tables.h"

namespace symprof::profile {
namespace {

std::vector<ShardedParameter> with_gradient(const ShardedGroup& group) {
  std::vector<ShardedParameter> parts;
  for (const ShardedParameter& part : group.parts)
    if (part.gradient != none) parts.push_back(part);
  return parts;
}

}  // namespace

void GradientReduction::accumulate(const ShardedGroup& group) {
  const std::vector<ShardedParameter> parts = with_gradient(group);
  if (parts.empty()) return;
  rank_.enter(EventBatch::last_of_several);
  rank_.add_call("fsdp::accumulate", group.of.node);
  for (const ShardedParameter& part : parts) rank_.give_back(part.gradient);
  rank_.enter(EventBatch::each);
}

/// Allocates the gradient of a part in reduce_dtype.
void GradientReduction::take_accumulated(ShardedParameter& part, const ShardedGroup& group) {
  const std::int64_t bytes =
      rank_.recording().storages[static_cast<std::size_t>(part.gradient)].bytes;
  part.accumulated = add(bytes / element_bytes(group.dtype) * element_bytes(dtype_of(group)),
                         CommStream::compute, group);
  rank_.take(part.accumulated);
}

/// FSDPParam.to_accumulated_grad_if_needed: without a reduction the gradients stay unsharded, cast
/// to reduce_dtype. PyTorch keeps gradients already in reduce_dtype in place; here they are copied
/// too.
void GradientReduction::keep_accumulated(ShardedGroup& group) {
  rank_.enter(EventBatch::but_last);
  for (ShardedParameter& part : group.parts) {
    if (part.gradient == none) continue;
    take_accumulated(part, group);
    rank_.give_back(part.gradient);
  }
  rank_.enter(EventBatch::each);
}

/// Frees the reduced gradient: the accumulated one if it exists.
void GradientReduction::drop_gradient(const ShardedParameter& part) {
  if (is_kept_) return rank_.give_back(part.accumulated == none ? part.gradient : part.accumulated);
  rank_.enter(EventBatch::only);
  rank_.give_back(part.gradient);
  rank_.enter(EventBatch::last_of_several);
  rank_.give_back(part.accumulated);
  rank_.enter(EventBatch::last);
}

void GradientReduction::reduce(ShardedGroup& group) {
  keep_accumulated(group);
  reduce_gradients(group);
}

/// Gradients in reduce_dtype stay in place, and autograd accumulates into them.
void GradientReduction::keep(ShardedGroup& group) {
  const std::vector<ShardedParameter> parts = with_gradient(group);
  if (dtype_of(group) == group.dtype || parts.empty()) return;
  rank_.add_call("fsdp::accumulate", group.of.node);
  for (ShardedParameter& part : group.parts) {
    if (part.gradient == none) continue;
    if (part.accumulated == none) take_accumulated(part, group);
    rank_.give_back(part.gradient);
  }
}

void GradientReduction::reduce_kept(ShardedGroup& group) {
  is_kept_ = true;
  reduce_gradients(group);
  is_kept_ = false;
}

/// `unsharded_grad`, a loop variable of foreach_reduce, keeps the last gradient alive until it
/// returns.
void GradientReduction::reduce_gradients(const ShardedGroup& group) {
  const std::vector<ShardedParameter> reduced = with_gradient(group);
  if (reduced.empty()) return;
  rank_.enter(EventBatch::last);
  if (input_) rank_.give_back(*input_);
  std::int64_t numbers = 0;
  for (const ShardedParameter& part : reduced) numbers += part.numbers;
  const std::int64_t bytes = numbers * element_bytes(dtype_of(group));
  rank_.add_call("fsdp::chunk_cat", group.of.node, bytes * options_.shards);
  input_ = add(bytes * options_.shards, CommStream::compute, group);
  rank_.take(*input_);
  copy_in(group, reduced);
  const StorageId output = reduce_scatter(group, bytes);
  reduce_replicas(group, bytes);
  take_gradients(group, output, numbers);
  drop_gradient(reduced.back());
  rank_.enter(EventBatch::each);
}

void GradientReduction::copy_in(const ShardedGroup& group,
                                const std::vector<ShardedParameter>& reduced) {
  std::vector<std::int64_t> pieces;
  pieces.reserve(reduced.size());
  for (const ShardedParameter& part : reduced)
    pieces.push_back(part.numbers * element_bytes(dtype_of(group)));
  rank_.take_briefly(copy_in_table_bytes(pieces), CommStream::compute, group.of.node);
  for (std::size_t i = 0; i + 1 < reduced.size(); ++i) drop_gradient(reduced[i]);
}

StorageId GradientReduction::reduce_scatter(const ShardedGroup& group, std::int64_t bytes) {
  if (options_.shards == 1)
    rank_.add_call("fsdp::copy", group.of.node, bytes);
  else
    rank_.add_collective("c10d::_reduce_scatter_base_", {.op = CollectiveOperator::reduce_scatter,
                                                         .dimension = MeshDimension::shard,
                                                         .group_size = options_.shards,
                                                         .input_bytes = bytes * options_.shards,
                                                         .output_bytes = bytes,
                                                         .node = group.of.node,
                                                         .stream = CommStream::reduce_scatter});
  const StorageId output = add(bytes, CommStream::reduce_scatter, group);
  rank_.take(output);
  return output;
}

void GradientReduction::reduce_replicas(const ShardedGroup& group, std::int64_t bytes) {
  if (options_.replicas == 1) return;
  rank_.add_collective("c10d::allreduce_", {.op = CollectiveOperator::all_reduce,
                                            .dimension = MeshDimension::data,
                                            .group_size = options_.replicas,
                                            .input_bytes = bytes,
                                            .output_bytes = bytes,
                                            .node = group.of.node,
                                            .stream = CommStream::all_reduce});
}

/// The shards' gradients are the output, or its cast.
void GradientReduction::take_gradients(const ShardedGroup& group, StorageId output,
                                       std::int64_t numbers) {
  const bool has_replicas = options_.replicas > 1;
  StorageId gradients = output;
  if (dtype_of(group) != group.stored_dtype) {
    rank_.add_call("fsdp::cast", group.of.node, numbers * element_bytes(dtype_of(group)));
    gradients = add(numbers * element_bytes(group.stored_dtype),
                    has_replicas ? CommStream::all_reduce : CommStream::reduce_scatter, group);
    rank_.take(gradients);
    if (has_replicas)
      all_reduced_.push_back(output);
    else
      rank_.give_back(output);
  }
  StorageRecord& record = rank_.recording().storages[static_cast<std::size_t>(gradients)];
  record.kind = StorageKind::gradient;
  record.parameter = group.of.shards.front();
  for (const ShardedParameter& part : group.parts) gradients_of_[part.shard] = gradients;
}

void GradientReduction::finish() {
  rank_.enter(EventBatch::last);
  if (input_) rank_.give_back(*std::exchange(input_, std::nullopt));
  for (const StorageId output : std::exchange(all_reduced_, {})) rank_.give_back(output);
  rank_.enter(EventBatch::each);
}

}  // namespace symprof::profile
