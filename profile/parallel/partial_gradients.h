// Gradients whose DTensor placement differs from their parameters': partial sums for parameters
// that saw only a share of the tokens, and all rows for an embedding sharded by rows.
#pragma once

#include <set>
#include <vector>

#include "profile/parallel/rank_recording.h"

namespace symprof::profile {

class PartialGradients {
 public:
  PartialGradients(RankRecording& rank, std::int64_t tensor_ranks);

  bool contains(StorageId gradient) const { return partial_.contains(gradient); }
  /// Before a call of the update. For each call, DTensor redistributes each gradient operand to its
  /// parameter's placement: it sums partial gradients, and copies the rank's rows.
  void place_for(const CallRecord& call);
  /// After that call. Python lists free from the end.
  void drop_placed();
  /// Adds the collective that sums a partial gradient, for `node`.
  void sum(std::int64_t bytes, NodeId node);

 private:
  RankRecording& rank_;
  std::int64_t tensor_ranks_;
  std::set<StorageId> partial_, of_all_words_;
  std::vector<StorageId> placed_;
};

}  // namespace symprof::profile
