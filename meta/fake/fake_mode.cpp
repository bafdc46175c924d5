#include "meta/fake/fake_mode.h"

#include <utility>

#include "meta/fake/beside_cuda.h"
#include "meta/fake/cuda_backend.h"
#include "meta/fake/saved_tensors.h"
#include "meta/fake/simulated_device.h"

namespace symprof::meta {
namespace {

// State for a program's other threads and for tensor_new, with a CUDA library loaded.
struct BesideCuda {
  OpenProgram program;
  std::shared_ptr<void> detours = detours_around_cuda();
};

std::shared_ptr<ModeInfo> info_of(AttentionPolicy attention, std::shared_ptr<Observer> observer,
                                  Factories factories) {
  auto info = std::make_shared<ModeInfo>();
  info->attention = std::move(attention);
  info->observer = std::move(observer);
  info->factories = factories;
  if (factories == Factories::on_host) info->beside_cuda = std::make_shared<BesideCuda>();
  return info;
}

}  // namespace

FakeMode::FakeMode(AttentionPolicy attention, std::shared_ptr<Observer> observer,
                   Factories factories)
    : debug_info_(mode_slot(), info_of(std::move(attention), std::move(observer), factories)),
      include_fake_(c10::DispatchKey::Fake),
      saved_autograd_state_(c10::AutogradState::get_tls_state()) {
  simulate_device();
  install_saved_tensor_observer();
  c10::AutogradState::get_tls_state().set_multithreading_enabled(false);
}

FakeMode::~FakeMode() { c10::AutogradState::set_tls_state(saved_autograd_state_); }

}  // namespace symprof::meta
