// CUPTI, loaded where it is: what the device does while an object of this lives.
#pragma once

#include <cstdint>
#include <memory>

#include "measure/cupti/records.h"

namespace symprof::measure::cupti {

/// Kernels, copies, memsets and the calls that asked for them are recorded. One at a time in a
/// process. CUPTI's buffers are kept as they come and read in take().
class Client {
 public:
  /// Throws Error (not_available) that says in CUPTI's words why it cannot record: no library, no
  /// right to (administrators may reserve it), another profiler.
  Client();
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Calls that this thread makes from now on belong to `id`, until it is popped.
  void push(std::uint64_t id);
  void pop();

  /// Nanoseconds of the clock that records have.
  std::int64_t now_ns() const;

  /// What ended since the last call of this. The device has to be idle.
  Records take();

 private:
  struct Functions;
  std::unique_ptr<Functions> functions_;
};

}  // namespace symprof::measure::cupti
