// One recorded step: device time by node, and the device's idle times.
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
  const char* op = "";  ///< Owned by the dispatcher.
  NodeId node = none;
  Phase phase = Phase::forward;
  std::int64_t begin_ns = 0, end_ns = 0;  ///< By Client::now_ns(); 0 if not timed.
};

/// The link from a work to its call, as far as found; null without one.
struct Origin {
  Activity::Link link = Activity::Link::no_correlation;
  const Call* call = nullptr;
};

/// By index into `records.works`. `calls[i]` has the external id `first_id + i`. Correlation ids
/// are compared unsigned, because they exceed 2^31; ids reused after 2^32 calls belong to the last
/// call before the work.
std::vector<Origin> origins_of(const Records& records, const std::vector<Call>& calls,
                               std::uint64_t first_id);

/// Times of a step; see DeviceRun for their meaning.
struct Step {
  std::vector<Times> nodes;  ///< By NodeId.
  std::vector<Unattributed> unattributed;
  std::vector<KernelRun> kernels;
  std::int64_t works = 0;
  std::int64_t sum_ns = 0, busy_ns = 0, span_ns = 0;
  /// Delays from the end of each call to the start of its work; 0 if it started earlier. Ascending.
  std::vector<std::int64_t> delays_ns;
  std::int64_t dropped_records = 0, unreadable_records = 0;
};

/// Several devices count as busy while any of them is.
Step summarize(const Records& records, const std::vector<Call>& calls, std::uint64_t first_id,
               std::size_t nodes);

/// The timeline of a step. `calls` must have times.
Timeline timeline_of(const Records& records, const std::vector<Call>& calls,
                     std::uint64_t first_id);

/// Medians over equal steps, without the times of nodes; kernels are matched by node, phase, name,
/// grid and block.
DeviceRun median_of(const std::vector<Step>& steps);
}  // namespace symprof::measure::cupti
