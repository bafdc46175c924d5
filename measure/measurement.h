// Measured time of each node of a step, forward and backward, for comparison with the estimate.
//
// Public header.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "record/recording.h"

namespace symprof::measure {

struct Run;

/// Nanoseconds of one step. Loss counts as forward, recompute as backward.
struct Times {
  std::int64_t forward_ns = 0, backward_ns = 0, optimizer_ns = 0;

  std::int64_t total_ns() const { return forward_ns + backward_ns + optimizer_ns; }
  std::int64_t& in(Phase phase) {
    return phase == Phase::optimizer ? optimizer_ns
           : is_in_backward(phase)   ? backward_ns
                                     : forward_ns;
  }
  Times& operator+=(const Times& other) {
    forward_ns += other.forward_ns;
    backward_ns += other.backward_ns;
    optimizer_ns += other.optimizer_ns;
    return *this;
  }
};

/// Time that belongs to no node: of an operator, or without one.
struct Unattributed {
  std::string name;  ///< "aten::copy_"; the kernel's name if no operator is known.
  std::string why;   ///< In words.
  Times times;
};

/// Every nanosecond of `total` is in one entry of `nodes` or of `unattributed`, except for rounding
/// in the division by the steps.
struct Measurement {
  /// The clock of the times.
  enum class Clock : std::uint8_t {
    device,  ///< Kernels, copies and memsets on a GPU.
    host,    ///< Self time of CPU operators.
  };
  std::string path;
  std::string device_name;  ///< Empty if not recorded.
  Clock clock = Clock::device;
  std::int64_t steps = 1;    ///< Times are the mean over them; for a local run, the median.
  std::vector<Times> nodes;  ///< By NodeId.
  std::vector<Unattributed> unattributed;  ///< Longest first.
  Times total;
  std::int64_t busy_ns = 0;  ///< Per step; concurrent work counts once.
  std::int64_t unreadable_events = 0;
  /// The run of this measurement (measure/run.h), with whole-step figures; null: a trace.
  std::shared_ptr<const Run> run;

  std::int64_t attributed_ns() const {
    std::int64_t sum = 0;
    for (const Times& times : nodes) sum += times.total_ns();
    return sum;
  }
};

}  // namespace symprof::measure
