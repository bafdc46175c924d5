#include "meta/fake/simulated_guard.h"

#include <torch/headeronly/version.h>

#include <atomic>
#include <optional>
#include <utility>

namespace symprof::meta {
namespace {

const c10::Device device{c10::kCUDA, 0};

// As in the default pool of c10/cuda/CUDAStream.cpp, whose streams are handed out round-robin.
constexpr std::int64_t streams_in_pool = 32;

thread_local c10::StreamId stream_now = 0;
thread_local bool is_capturing_now = false;

// One device without events: the guard that the autograd engine needs.
struct SimulatedGuard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return c10::kCUDA; }
  c10::Device exchangeDevice(c10::Device) const override { return device; }
  c10::Device getDevice() const override { return device; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device) const override { return stream(stream_now); }
  c10::Stream getDefaultStream(c10::Device) const override { return stream(0); }
  c10::Stream getNewStream(c10::Device, int) const override {
    static std::atomic<c10::StreamId> made = 0;
    return stream(1 + made++ % streams_in_pool);
  }
  c10::Stream getStreamFromGlobalPool(c10::Device place, bool) const override {
    return getNewStream(place, 0);
  }
  c10::Stream exchangeStream(c10::Stream next) const override {
    return stream(std::exchange(stream_now, next.id()));
  }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  void record(void**, const c10::Stream&, const c10::DeviceIndex,
              const c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void destroyEvent(void*, const c10::DeviceIndex) const noexcept override {}
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override {}
#if TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 13
  bool isStreamCapturing(const c10::Stream& stream) const override {
    return is_capturing_now && stream.id() == stream_now;
  }
#endif
  void synchronizeEvent(void*) const override {}
  void synchronizeDevice(const c10::DeviceIndex) const override {}
  void recordDataPtrOnStream(const c10::DataPtr&, const c10::Stream&) const override {}
  // No time passes; 1 ms keeps a program from dividing by zero.
  double elapsedTime(void*, void*, const c10::DeviceIndex) const override { return 1.0; }

  static c10::Stream stream(c10::StreamId id) {
    return c10::Stream(c10::Stream::UNSAFE, device, id);
  }
};

}  // namespace

const c10::impl::DeviceGuardImplInterface& simulated_guard() {
  static const SimulatedGuard guard;
  return guard;
}

std::int64_t current_stream() { return stream_now; }

void set_capturing(bool is_capturing) { is_capturing_now = is_capturing; }

}  // namespace symprof::meta
