#include "profile/node_bytes.h"

#include "base/checked.h"
#include "profile/figure_sums.h"
#include "record/saved_kinds.h"

namespace symprof::profile {
namespace {

void count_storage(const StorageRecord& storage, Totals& totals) {
  switch (storage.kind) {
    case StorageKind::parameter:
      return add_to(totals.param_bytes, storage.bytes);
    case StorageKind::buffer:
      return add_to(totals.buffer_bytes, storage.bytes);
    case StorageKind::input:
      return add_to(totals.input_bytes, storage.bytes);
    case StorageKind::gradient:
      return add_to(totals.grad_bytes, storage.bytes);
    case StorageKind::optimizer_state:
      return add_to(totals.optimizer_bytes, storage.bytes);
    case StorageKind::offloaded:
      return add_to(totals.offloaded_bytes, storage.bytes);
    case StorageKind::kv_cache:
      return add_to(
          storage.allocated_by == none ? *totals.kv_cache_bytes : *totals.kv_cache_bytes_after,
          storage.bytes);
    case StorageKind::activation:
    case StorageKind::communication:
      return;
  }
}

/// Host memory counts too (e.g. seed and offset of attention without dropout): saved_bytes equals
/// what torch.autograd.graph.saved_tensors_hooks sees, on any device.
void count_saved(Profile& profile) {
  for (const StorageRecord& storage : profile.recording.storages) {
    count_storage(storage, profile.totals);
    if (!storage.saved || !counts_as_saved(storage.kind)) continue;
    add_to(profile.totals.saved_bytes_with_inputs, storage.bytes);
    if (storage.kind != StorageKind::input) add_to(profile.totals.saved_bytes, storage.bytes);
    if (storage.node != none)
      add_to(profile.nodes[storage.node].figures.incremental_bytes, storage.bytes);
  }
}

/// Counts the storages of the outputs that `node` produced, each once; `counted`: by storage.
void count_outputs(const Recording& recording, NodeProfile& node, std::vector<bool>& counted) {
  for (const TensorRecord& output : recording.nodes[node.node].outputs) {
    if (output.storage == none || counted[output.storage]) continue;
    const StorageRecord& storage = recording.storages[output.storage];
    const bool made_here =
        storage.node == node.node && storage.on_device &&
        (storage.kind == StorageKind::activation || storage.kind == StorageKind::input ||
         storage.kind == StorageKind::kv_cache);
    if (!made_here) continue;
    counted[output.storage] = true;
    add_to(storage.saved ? node.figures.output_bytes : node.figures.temp_bytes, storage.bytes);
  }
}

void count_collectives(Profile& profile) {
  if (!profile.recording.rank) return;
  for (const Collective& collective : profile.recording.rank->collectives) {
    add_to(profile.totals.comm_bytes, collective.bytes());
    if (collective.node != none)
      add_to(profile.nodes[static_cast<std::size_t>(collective.node)].figures.comm_bytes,
             collective.bytes());
  }
}

void count_cache_of_a_token(const KvCacheRecord& cache, Totals& totals) {
  const Count tokens = Count(cache.sequences) * (Count(cache.tokens) + cache.added_tokens);
  if (tokens.value() > 0)
    totals.kv_cache_bytes_per_token = *totals.kv_cache_bytes_after / tokens.value();
}

}  // namespace

void count_memory(Profile& profile) {
  const Recording& recording = profile.recording;
  profile.totals.param_count = recording.parameter_count;
  if (recording.kv_cache) profile.totals.kv_cache_bytes = profile.totals.kv_cache_bytes_after = 0;
  count_saved(profile);
  count_collectives(profile);
  if (recording.kv_cache) count_cache_of_a_token(*recording.kv_cache, profile.totals);
  std::vector<bool> counted(recording.storages.size());
  RowFigures sums;
  for (NodeProfile& node : profile.nodes) {
    const NodeRecord& record = recording.nodes[node.node];
    count_outputs(recording, node, counted);
    for (StorageId parameter : record.parameters)
      add_to(node.figures.param_bytes, recording.storages[parameter].bytes);
    node.figures.backward_bytes = record.input_gradient_bytes;
    run_on(sums, node.figures);
  }
  if (sums.accumulate_bytes != profile.totals.saved_bytes_with_inputs)
    throw Error(
        "profile",
        "the rows' saved bytes (" + std::to_string(sums.accumulate_bytes) +
            ") are not the total (" + std::to_string(profile.totals.saved_bytes_with_inputs) + ")",
        "a saved storage belongs to no node: this is a defect of symprof, please report it");
}

}  // namespace symprof::profile
