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

// Without Factories::on_host the mode adopts no storage of the program's recording
// (meta/fake/fake_tensor.cpp: announce_to).
struct Unrecorded::Mode {
  at::RecordFunctionGuard without_callbacks{/*is_enabled=*/false};
  meta::FakeMode mode{{}, silent_follower(), meta::Factories::on_device};
};

Unrecorded::Unrecorded() : mode_(std::make_unique<Mode>()) {}
Unrecorded::~Unrecorded() = default;

}  // namespace symprof
