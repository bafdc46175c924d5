#include "profile/memory/run/recording_tapes.h"

#include <algorithm>
#include <iterator>

namespace symprof::profile {
namespace {

/// The first pass, one between, and the last differ; more of those between do not.
constexpr int most_passes = 3;

}  // namespace

std::size_t place_of_pass(int pass, int passes, std::size_t tapes) {
  const std::size_t last = tapes - 1;
  return pass == 0 ? 0 : pass + 1 == passes ? last : std::min<std::size_t>(1, last);
}

const StepTape& StepTapes::of(bool is_first_update, int pass, int passes) const {
  const std::vector<StepTape>& tapes = is_first_update ? first : later;
  return tapes[place_of_pass(pass, passes, tapes.size())];
}

StepTapes tapes_of_recording(const Recording& recording, const DeviceSpec& device,
                             LoopOptions loop) {
  // What the allocator does with the blocks comes later; the library asks for them by its version.
  loop.allocator = {.cublaslt_workspace_bytes = loop.allocator.cublaslt_workspace_bytes};
  loop.micro_batches = std::min(loop.micro_batches, most_passes);
  std::vector<BlockEvent> events;
  std::vector<std::size_t> ends;  // Of what comes before the loop, and of each pass but the last.
  watch_step_memory(recording, device, {.loop = loop, .steps = 3},
                    {.on_block = [&](const BlockEvent& event) { events.push_back(event); },
                     .on_batch = [&] { ends.push_back(events.size()); }});
  std::vector<StepTape> tapes = cut_into_tapes(events, ends);
  const auto first = std::next(tapes.begin()), later = first + loop.micro_batches;
  StepTapes made{.before = std::move(tapes.front())};
  std::move(first, later, std::back_inserter(made.first));
  std::move(later, later + loop.micro_batches, std::back_inserter(made.later));
  return made;
}

}  // namespace symprof::profile
