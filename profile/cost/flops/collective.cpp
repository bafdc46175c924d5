// Collectives, and the copies that FSDP2 makes around them. Their one integer has the bytes that a
// rank reads and writes in its own memory; what goes over the links is in Recording::rank.
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

constexpr Rule rows[] = {
    {"c10d::_allgather_base_", copies, modelled},
    {"c10d::_reduce_scatter_base_", copies, modelled},
    {"c10d::allreduce_", copies, modelled},
    {"fsdp::split_with_sizes_copy", copies, modelled},
    {"fsdp::chunk_cat", copies, modelled},
    {"fsdp::reshard", touches_nothing, Confidence::free},
    {"fsdp::cast", copies, modelled},
    {"fsdp::accumulate", touches_nothing, Confidence::free},
};

}  // namespace

Rules collective_rules() { return rows; }

}  // namespace symprof::profile
