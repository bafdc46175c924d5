// One recorded step: which node each piece of the device's time belongs to, and what the device did
// between.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "measure/cupti/records.h"
#include "measure/run.h"
#include "measure/timeline.h"

namespace symprof::measure::cupti {

/// An operator that the program ran.
struct Call {
  const char* op = "";  ///< Of the dispatcher, which keeps it.
  NodeId node = none;
  Phase phase = Phase::forward;
  std::int64_t begin_ns = 0, end_ns = 0;  ///< By Client::now_ns(); 0 where nobody took the time.
};

/// How far a work could be followed back, and to which call; null where to none.
struct Origin {
  Activity::Link link = Activity::Link::no_correlation;
  const Call* call = nullptr;
};

/// By index into `records.works`. `calls[i]` has the program's number `first_id + i`. Correlation
/// ids are compared without a sign, as they count on beyond 2^31; those that come again after 2^32
/// calls belong to the call that began last before the work.
std::vector<Origin> origins_of(const Records& records, const std::vector<Call>& calls,
                               std::uint64_t first_id);

/// Times of a step; see DeviceRun for what they are.
struct Step {
  std::vector<Times> nodes;  ///< By NodeId.
  std::vector<Unattributed> unattributed;
  std::vector<KernelRun> kernels;
  std::int64_t works = 0;
  std::int64_t sum_ns = 0, busy_ns = 0, span_ns = 0;
  /// From the end of each call to the begin of the work that it asked for; what began before that
  /// has 0. Ascending.
  std::vector<std::int64_t> delays_ns;
  std::int64_t dropped_records = 0, unreadable_records = 0;
};

/// Where there are several devices, they are busy while one of them is.
Step summarize(const Records& records, const std::vector<Call>& calls, std::uint64_t first_id,
               std::size_t nodes);

/// The step in time. `calls` have their times.
Timeline timeline_of(const Records& records, const std::vector<Call>& calls,
                     std::uint64_t first_id);

/// The medians of steps that do the same, but for the times of nodes; kernels are matched by node,
/// phase, name, grid and block.
DeviceRun median_of(const std::vector<Step>& steps);
}  // namespace symprof::measure::cupti
