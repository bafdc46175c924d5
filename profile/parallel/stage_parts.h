// What of a recorded microbatch is forward and what is backward of which stage, and how long each
// of its blocks lives.
#pragma once

#include <vector>

#include "record/parallel_options.h"
#include "record/recording.h"

namespace symprof::profile {

/// A tensor that a stage sends forward, or receives.
struct StageMessage {
  StorageId storage = none;
  /// Of what is sent: the gradient with which backward begins, whose place the received one takes.
  StorageId gradient = none;
  std::int64_t bytes = 0;
  NodeId node = none;
  bool has_gradient = false;
};

struct StagePart {
  std::vector<CallId> forward, backward;  ///< In their order.
  std::vector<StageMessage> received, sent;
  /// Blocks that go with the end of this stage's forward or backward, as their own calls do not
  /// give them back.
  std::vector<StorageId> ends_with_forward, ends_with_backward;
  /// Gradients of what was received: they are sent.
  std::vector<StorageId> input_gradients;
};

struct StageParts {
  std::vector<StagePart> of_stage;
  std::vector<CallId> update;
  /// What the last stage keeps of each microbatch.
  std::vector<TensorRecord> outputs;
  std::vector<bool> is_of_microbatch;  ///< By storage: each microbatch has its own.
  std::vector<bool> has_own_end;       ///< By storage: the calls of its part give it back.
  /// By storage: the stage whose forward or backward takes it, and which ends with that backward at
  /// the latest; none for others.
  std::vector<std::int32_t> ends_in_stage;
};

StageParts stage_parts(const Recording& recording, const PipelineOptions& options);

}  // namespace symprof::profile
