// Gradients of parameters that worked on a share of the tokens: a rank has a part of each sum.
#pragma once

#include <set>

#include "profile/parallel/rank_recording.h"

namespace symprof::profile {

class PartialGradients {
 public:
  PartialGradients(RankRecording& rank, std::int64_t tensor_ranks);

  bool contains(StorageId gradient) const { return partial_.contains(gradient); }
  /// Before a call of the update. DTensor makes a sum of a part for each operand that has to be
  /// whole.
  void sum_for(const CallRecord& call);
  /// Adds the collective that makes a sum of a part, for `node`.
  void sum(std::int64_t bytes, NodeId node);

 private:
  RankRecording& rank_;
  std::int64_t tensor_ranks_;
  std::set<StorageId> partial_;
};

}  // namespace symprof::profile
