// What the ranks of a step send each other, as plain data: which collective, over which dimension
// of the mesh, how many bytes, when, for which node.
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

/// The dimension of the mesh whose ranks take part; also the engine that asks for it.
enum class MeshDimension : std::uint8_t {
  data,      ///< DDP, and HSDP's copies.
  shard,     ///< FSDP2, and HSDP's shards.
  tensor,    ///< Tensor and sequence parallelism.
  pipeline,  ///< Stages.
  expert,    ///< Expert parallelism, over the ranks of shard or data.
};

/// The CUDA stream of PyTorch's engine on which it waits for its turn; each has an order of its
/// own. Blocks of an allocator's pool belong to the stream that was current when they were taken.
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
  std::int64_t group_size = 1;    ///< Ranks that take part; 2 for send and receive.
  std::int64_t input_bytes = 0;   ///< What this rank gives; 0 for receive.
  std::int64_t output_bytes = 0;  ///< What this rank gets; 0 for send.
  Phase phase = Phase::forward;
  NodeId node = none;  ///< For whose sake: the node of the recording, none for the whole step.
  CallId call = none;  ///< Its own call in the recording of the rank's step.
  /// Calls from this one on need its result; calls.size(): nothing but the next step does.
  CallId needed_by = none;
  CommStream stream = CommStream::compute;

  /// The larger of the two: what NCCL's formulas call the message (nccl-tests, PERFORMANCE.md).
  std::int64_t bytes() const { return input_bytes > output_bytes ? input_bytes : output_bytes; }
};

/// As reports print it: "shard".
constexpr std::string_view name_of(MeshDimension dimension) {
  constexpr std::string_view names[] = {"data", "shard", "tensor", "pipeline", "expert"};
  return names[static_cast<std::size_t>(dimension)];
}

/// As reports print it: "all_gather".
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
