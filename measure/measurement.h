// How long each node of a step took where it really ran, by direction, beside which the estimate
// stands.
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

/// Nanoseconds, of one step. Loss is forward, what is computed again is backward.
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

/// What took time and found no node: an operator, or what has no operator.
struct Unattributed {
  std::string name;  ///< "aten::copy_"; the kernel's name where no operator is known.
  std::string why;   ///< In words.
  Times times;
};

/// Every nanosecond of `total` is in one entry of `nodes` or of `unattributed`, but for what the
/// division by the steps rounds away.
struct Measurement {
  /// Whose time it is.
  enum class Clock : std::uint8_t {
    device,  ///< Kernels, copies and memsets on a GPU.
    host,    ///< Operators on the CPU that ran the step, each without those that it called.
  };
  std::string path;
  std::string device_name;  ///< Empty where the recording does not say.
  Clock clock = Clock::device;
  std::int64_t steps = 1;                  ///< Times are their mean; of a run here, their median.
  std::vector<Times> nodes;                ///< By NodeId.
  std::vector<Unattributed> unattributed;  ///< Longest first.
  Times total;
  std::int64_t busy_ns = 0;  ///< Of a step: things that ran at once count once.
  std::int64_t unreadable_events = 0;
  /// The run that this is of (measure/run.h), with what it says of the whole step; null: a trace.
  std::shared_ptr<const Run> run;

  std::int64_t attributed_ns() const {
    std::int64_t sum = 0;
    for (const Times& times : nodes) sum += times.total_ns();
    return sum;
  }
};

}  // namespace symprof::measure
