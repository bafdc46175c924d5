// The three queues of a step: the host issues, the device computes, and collectives run
// concurrently on their own streams, one after another because they share the links.
#pragma once

#include <algorithm>

namespace symprof::profile {

/// The device's two queues, in microseconds since the start. The caller passes the host's time as
/// the earliest start.
class DeviceQueues {
 public:
  struct Slot {
    double begin_us = 0, end_us = 0;
  };

  /// A kernel, not before `earliest_us`.
  Slot compute(double us, double earliest_us = 0) {
    const double begin = std::max(compute_, earliest_us);
    compute_ = begin + us;
    return {begin, compute_};
  }

  /// A collective whose operands are ready at `ready_us`.
  Slot communicate(double us, double ready_us) {
    const double begin = std::max(communication_, ready_us);
    communication_ = begin + us;
    communication_us_ += us;
    return {begin, communication_};
  }

  /// The next kernels depend on a result that is ready at `us`. The wait is exposed communication.
  void wait_until(double us) {
    exposed_us_ += std::max(us - compute_, 0.0);
    compute_ = std::max(compute_, us);
  }

  /// A collective that computation waits for immediately.
  void communicate_and_wait(double us) { wait_until(communicate(us, compute_).end_us); }

  double computed_us() const { return compute_; }
  double communicated_us() const { return communication_; }
  double communication_us() const { return communication_us_; }  ///< Of all collectives.
  double exposed_us() const { return exposed_us_; }              ///< Time that computation waited.
  double end_us() const { return std::max(compute_, communication_); }

 private:
  double compute_ = 0, communication_ = 0, communication_us_ = 0, exposed_us_ = 0;
};

}  // namespace symprof::profile
