// Collectives, and FSDP2's copies around them. Their one integer argument has the bytes that a rank
// reads and writes in local memory; bytes on the links are in Recording::rank.
#include "profile/cost/flops/families.h"
#include "profile/cost/flops/streaming.h"

namespace symprof::profile {
namespace {

Estimate copies(const Call& call) {
  const std::int64_t bytes = call.integer(0, 0, 0);
  Cost cost;
  cost.bytes_read = cost.bytes_written = bytes;
  return cost;
}

/// Lower bound of the bytes that a rank reads and writes in local memory.
Estimate copies_tensor(const Call& call) {
  Cost cost;
  if (const TensorSpec* input = call.input(0)) cost.bytes_read = input->bytes();
  if (const TensorSpec* output = call.output(0)) cost.bytes_written = output->bytes();
  return cost;
}

constexpr Rule rows[] = {
    {"c10d::_allgather_base_", copies, modelled},
    {"c10d::_reduce_scatter_base_", copies, modelled},
    {"c10d::allreduce_", copies, modelled},
    {"_c10d_functional::all_reduce", copies_tensor, modelled},
    {"_c10d_functional::all_gather_into_tensor", copies_tensor, modelled},
    {"_c10d_functional::reduce_scatter_tensor", copies_tensor, modelled},
    {"_c10d_functional::all_to_all_single", copies_tensor, modelled},
    {"_c10d_functional::broadcast", copies_tensor, modelled},
    {"_c10d_functional::wait_tensor", touches_nothing, Confidence::free},
    {"c10d::send", copies, modelled},
    {"c10d::recv_", copies, modelled},
    {"pipeline::clear_runtime_states", touches_nothing, Confidence::free},
    {"pipeline::merge_chunks", copies, modelled},
    {"fsdp::all_gather_copy_in", copies, modelled},
    {"fsdp::split_with_sizes_copy", copies, modelled},
    {"fsdp::chunk_cat", copies, modelled},
    {"fsdp::reshard", touches_nothing, Confidence::free},
    {"fsdp::cast", copies, modelled},
    {"fsdp::copy", copies, modelled},
    {"tensor_parallel::own_words", copies, modelled},
    {"fsdp::accumulate", touches_nothing, Confidence::free},
};

}  // namespace

Rules collective_rules() { return rows; }

}  // namespace symprof::profile
