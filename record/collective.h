// The collectives between the ranks of a step, as plain data: operator, mesh dimension, bytes,
// position in the step, and node.
//
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "record/ids.h"

namespace symprof {

enum class CollectiveOperator : std::uint8_t {
  all_gather,
  reduce_scatter,
  all_reduce,
  broadcast,
  all_to_all,
  send,
  receive,
};

/// The mesh dimension of the participating ranks; also the engine that issues the collective.
enum class MeshDimension : std::uint8_t {
  data,      ///< DDP, and HSDP's replicas.
  shard,     ///< FSDP2, and HSDP's shards.
  tensor,    ///< Tensor and sequence parallelism.
  pipeline,  ///< Stages.
  expert,    ///< Expert parallelism, over the ranks of shard or data.
};

/// The CUDA stream of PyTorch's engine in which the collective is queued; each stream has its own
/// order. A block of the allocator's pool belongs to the stream that was current when it was
/// allocated.
enum class CommStream : std::uint8_t {
  compute,
  all_gather_copy_in,
  all_gather,
  reduce_scatter,
  all_reduce,
  ddp
};

/// One collective of one rank.
struct Collective {
  CollectiveOperator op = CollectiveOperator::all_reduce;
  MeshDimension dimension = MeshDimension::data;
  std::int64_t group_size = 1;    ///< Participating ranks; 2 for send and receive.
  std::int64_t input_bytes = 0;   ///< Bytes that this rank sends; 0 for receive.
  std::int64_t output_bytes = 0;  ///< Bytes that this rank receives; 0 for send.
  Phase phase = Phase::forward;
  NodeId node = none;  ///< The node that needs it; none for the whole step.
  CallId call = none;  ///< Its call in the recording of the rank's step.
  /// The first call that needs its result; calls.size(): only the next step does.
  CallId needed_by = none;
  CommStream stream = CommStream::compute;

  /// The larger of the two: the message size in NCCL's formulas (nccl-tests, PERFORMANCE.md).
  std::int64_t bytes() const { return input_bytes > output_bytes ? input_bytes : output_bytes; }
};

/// The name in reports: "shard".
constexpr std::string_view name_of(MeshDimension dimension) {
  constexpr std::string_view names[] = {"data", "shard", "tensor", "pipeline", "expert"};
  return names[static_cast<std::size_t>(dimension)];
}

/// The name in reports: "all_gather".
constexpr std::string_view name_of(CollectiveOperator op) {
  switch (op) {
    case CollectiveOperator::all_gather:
      return "all_gather";
    case CollectiveOperator::reduce_scatter:
      return "reduce_scatter";
    case CollectiveOperator::all_reduce:
      return "all_reduce";
    case CollectiveOperator::broadcast:
      return "broadcast";
    case CollectiveOperator::all_to_all:
      return "all_to_all";
    case CollectiveOperator::send:
      return "send";
    case CollectiveOperator::receive:
      return "receive";
  }
  return "all_reduce";
}

}  // namespace symprof
