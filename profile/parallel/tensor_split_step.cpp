#include "profile/parallel/tensor_split_step.h"

#include <utility>

#include "profile/parallel/partial_gradients.h"
#include "profile/parallel/rank_recording.h"

namespace symprof::profile {

Recording tensor_split_step(Recording recording, const ParallelOptions& options) {
  RankRecording rank(std::move(recording), functional_group(options));
  PartialGradients partial(rank, options.tensor);
  rank.copy_beginning();
  const auto calls = static_cast<CallId>(rank.source().calls.size());
  while (rank.next() < calls) {
    const CallRecord& call = rank.source().calls[static_cast<std::size_t>(rank.next())];
    if (call.phase == Phase::optimizer) partial.place_for(call);
    rank.copy_call();
    partial.drop_placed();
  }
  return rank.finish(held_as_recorded(rank.source()));
}

}  // namespace symprof::profile
