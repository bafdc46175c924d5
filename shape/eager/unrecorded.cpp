#include "shape/eager/unrecorded.h"

#include <ATen/record_function.h>

#include "meta/fake/fake_mode.h"
#include "meta/fake/silent_observer.h"

namespace symprof {
namespace {

std::shared_ptr<meta::Observer> silent_follower() {
  auto observer = std::make_shared<meta::UpperBounds>();
  observer->follow_values();
  return observer;
}

}  // namespace

// Factories::on_device, as only a program's mode (on_host) takes over the storages of another mode
// (announce_to in meta/fake/fake_tensor.cpp): those of the recorded program stay in its recording.
struct Unrecorded::Mode {
  at::RecordFunctionGuard without_callbacks{/*is_enabled=*/false};
  meta::FakeMode mode{{}, silent_follower(), meta::Factories::on_device};
};

Unrecorded::Unrecorded() : mode_(std::make_unique<Mode>()) {}
Unrecorded::~Unrecorded() = default;

}  // namespace symprof
