// Splits a recorded microbatch into forward and backward parts by stage, and finds the lifetime of
// its blocks.
#pragma once

#include <vector>

#include "record/parallel_options.h"
#include "record/recording.h"

namespace symprof::profile {

/// A tensor that a stage sends to the next or receives from the previous.
struct StageMessage {
  StorageId storage = none;
  /// For a sent tensor: the gradient that starts backward, replaced by the received one.
  StorageId gradient = none;
  std::int64_t bytes = 0;
  NodeId node = none;
  bool has_gradient = false;
};

struct StagePart {
  std::vector<CallId> forward, backward;  ///< In their order.
  std::vector<StageMessage> received, sent;
  /// Blocks freed at the end of this stage's forward or backward, because no call of the part frees
  /// them.
  std::vector<StorageId> ends_with_forward, ends_with_backward;
  /// Gradients of received tensors, which are sent back.
  std::vector<StorageId> input_gradients;
};

struct StageParts {
  std::vector<StagePart> of_stage;
  std::vector<CallId> update;
  /// Outputs that the last stage keeps for each microbatch.
  std::vector<TensorRecord> outputs;
  std::vector<bool> is_of_microbatch;  ///< By storage: separate for each microbatch.
  std::vector<bool> has_own_end;       ///< By storage: freed by the calls of its part.
  /// By storage: the stage whose forward or backward allocates it, freed at the latest with that
  /// backward; none for others.
  std::vector<std::int32_t> ends_in_stage;
};

StageParts stage_parts(const Recording& recording, const PipelineOptions& options);

}  // namespace symprof::profile
