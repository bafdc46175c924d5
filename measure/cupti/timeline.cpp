#include "measure/cupti/step.h"

namespace symprof::measure::cupti {

Timeline timeline_of(const Records& records, const std::vector<Call>& calls,
                     std::uint64_t first_id) {
  Timeline timeline;
  timeline.calls.reserve(calls.size());
  for (const Call& call : calls)
    timeline.calls.push_back({.op = call.op,
                              .node = call.node,
                              .phase = call.phase,
                              .begin_ns = call.begin_ns,
                              .end_ns = call.end_ns});
  const std::vector<Origin> origins = origins_of(records, calls, first_id);
  timeline.works.reserve(records.works.size());
  for (std::size_t i = 0; i < records.works.size(); ++i) {
    const Work& work = records.works[i];
    const Call* call = origins[i].call;
    timeline.works.push_back(
        {.name = work.name,
         .kind = work.kind,
         .call = call == nullptr ? none : static_cast<std::int32_t>(call - calls.data()),
         .begin_ns = work.begin_ns,
         .end_ns = work.end_ns,
         .device = work.device,
         .stream = work.stream});
  }
  timeline.begin_at_zero();
  return timeline;
}

}  // namespace symprof::measure::cupti
