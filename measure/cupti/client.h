// CUPTI, loaded at run time: records device activity during an object's lifetime.
#pragma once

#include <cstdint>
#include <memory>

#include "measure/cupti/records.h"

namespace symprof::measure::cupti {

/// Records kernels, copies, memsets and the calls that submitted them. One object per process at a
/// time. CUPTI's buffers are stored and decoded in take().
class Client {
 public:
  /// Throws Error (not_available) with CUPTI's reason: no library, no permission (administrators
  /// may restrict it), another profiler.
  Client();
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Calls that this thread makes from now on belong to `id`, until it is popped.
  void push(std::uint64_t id);
  void pop();

  /// Nanoseconds of CUPTI's clock, as in records.
  std::int64_t now_ns() const;

  /// The records that ended since the last call. The device must be idle.
  Records take();

 private:
  struct Functions;
  std::unique_ptr<Functions> functions_;
};

}  // namespace symprof::measure::cupti
