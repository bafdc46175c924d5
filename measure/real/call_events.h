// CUDA events around each operator of a program, used if kernels cannot be recorded.
#pragma once

#include <ATen/record_function.h>
#include <c10/core/Event.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "measure/measurement.h"
#include "measure/real/call_places.h"

namespace symprof::measure::real {

/// During its lifetime, the outermost operators of all threads are enclosed by two events on the
/// current stream. An operator's time is that between the two, including waits of the device for
/// the host. One per process at a time.
class CallEvents {
 public:
  /// `places` has to outlive it.
  CallEvents(CallPlaces& places, c10::Device device, std::size_t nodes);
  ~CallEvents();
  CallEvents(const CallEvents&) = delete;
  CallEvents& operator=(const CallEvents&) = delete;

  /// The times since the last call, by NodeId. The device must be idle.
  std::vector<Times> take();

 private:
  struct Pair {
    CallPlaces::Place place;
    c10::Event begin, end;
  };
  struct Open;

  static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function);
  static void end(const at::RecordFunction& function, at::ObserverContext* context);
  c10::Event recorded() const;
  static std::atomic<CallEvents*> current_;

  CallPlaces& places_;
  const c10::Device device_;
  const std::size_t nodes_;
  at::CallbackHandle handle_;
  std::mutex mutex_;
  std::vector<Pair> pairs_;
};

}  // namespace symprof::measure::real
