// Pushes an external id on CUPTI's stack for each operator of a step.
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

/// During its lifetime, CUDA work of all threads carries the id of the outermost operator; nested
/// operators are ignored, which saves host time. One per process at a time.
class CallIds {
 public:
  /// `places` and `client` have to outlive it. `keeps_times`: record call times, at the cost of two
  /// clock reads per call.
  CallIds(CallPlaces& places, cupti::Client& client, bool keeps_times);
  ~CallIds();
  CallIds(const CallIds&) = delete;
  CallIds& operator=(const CallIds&) = delete;

  /// The operators since the last call, and the id of the first.
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
