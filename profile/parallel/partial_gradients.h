// Gradients that do not lie as their parameters do: of those that worked on a share of the tokens a
// rank has a part of a sum, of an embedding that is split by words all words.
#pragma once

#include <set>
#include <vector>

#include "profile/parallel/rank_recording.h"

namespace symprof::profile {

class PartialGradients {
 public:
  PartialGradients(RankRecording& rank, std::int64_t tensor_ranks);

  bool contains(StorageId gradient) const { return partial_.contains(gradient); }
  /// Before a call of the update. DTensor places each gradient among its operands as the parameter
  /// is, anew for each call: it sums parts, and copies the rank's words.
  void place_for(const CallRecord& call);
  /// After that call. Lists of Python go from their ends.
  void drop_placed();
  /// Adds the collective that makes a sum of a part, for `node`.
  void sum(std::int64_t bytes, NodeId node);

 private:
  RankRecording& rank_;
  std::int64_t tensor_ranks_;
  std::set<StorageId> partial_, of_all_words_;
  std::vector<StorageId> placed_;
};

}  // namespace symprof::profile
