// A number for each operator that a step calls, on CUPTI's stack while it runs.
#pragma once

#include <ATen/record_function.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "measure/cupti/client.h"
#include "measure/cupti/step.h"
#include "measure/real/call_places.h"

namespace symprof::measure::real {

/// While it lives, whatever operators of any thread ask of CUDA carries the number of the outermost
/// one: those that it calls are not looked at, which would make the host slower. One at a time in a
/// process: the process is the step's.
class CallIds {
 public:
  /// `places` and `client` have to outlive it. `keeps_times`: the times of calls are wanted, which
  /// costs the host two looks at the clock for each.
  CallIds(CallPlaces& places, cupti::Client& client, bool keeps_times);
  ~CallIds();
  CallIds(const CallIds&) = delete;
  CallIds& operator=(const CallIds&) = delete;

  /// The operators since the last call of this, and the number of the first.
  struct Calls {
    std::vector<cupti::Call> calls;
    std::uint64_t first_id = 0;
  };
  Calls take();

 private:
  struct Open;

  static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function);
  static void end(const at::RecordFunction& function, at::ObserverContext* context);
  static std::atomic<CallIds*> current_;

  CallPlaces& places_;
  cupti::Client& client_;
  const bool keeps_times_;
  at::CallbackHandle handle_;
  std::mutex mutex_;
  std::vector<cupti::Call> calls_;
  std::uint64_t first_id_ = 1;  ///< 0 is CUPTI's "none".
};

}  // namespace symprof::measure::real
