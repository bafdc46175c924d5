#include "profile/memory/run/program_tapes.h"

#include <algorithm>

namespace symprof::profile {

std::vector<StepTape> tapes_of_program(const ProgramRecording& program, const DeviceSpec& device,
                                       const LoopOptions& loop, const OperatorTable* own) {
  if (program.finished == 0) return {};
  const ProgramStep& last = program.steps[program.finished - 1];
  std::vector<BlockEvent> events;
  watch_step_memory(program.recording, device,
                    {.loop = loop,
                     .program = ProgramRange{0, last.end_call, 0, last.end_event, 0, last.end_node},
                     .own = own},
                    {.on_block = [&](const BlockEvent& event) { events.push_back(event); }});
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; i < program.finished; ++i) {
    const auto next =
        std::ranges::lower_bound(events, program.steps[i].end_call, {}, &BlockEvent::call);
    ends.push_back(static_cast<std::size_t>(next - events.begin()));
  }
  return cut_into_tapes(events, ends);
}

}  // namespace symprof::profile
