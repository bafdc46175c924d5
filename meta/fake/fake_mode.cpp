#include "meta/fake/fake_mode.h"

#include <optional>
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

struct ModeInfo final : c10::DebugInfoBase {
  ModeInfo(AttentionPolicy attention, std::shared_ptr<Observer> observer, Factories factories)
      : attention(std::move(attention)), observer(std::move(observer)), factories(factories) {
    if (factories == Factories::on_host) beside_cuda.emplace();
  }
  AttentionPolicy attention;
  std::shared_ptr<Observer> observer;
  Factories factories;
  std::optional<BesideCuda> beside_cuda;
};

// A thread-local slot of LibTorch that is unused outside of inference servers. It is an enumeration
// in 2.11 and an object in 2.13; both accept this name.
const auto slot = [] { return c10::DebugInfoKind::INFERENCE_CONTEXT; };

ModeInfo* current_info() { return dynamic_cast<ModeInfo*>(c10::ThreadLocalDebugInfo::get(slot())); }

}  // namespace

FakeMode::FakeMode(AttentionPolicy attention, std::shared_ptr<Observer> observer,
                   Factories factories)
    : debug_info_(slot(),
                  std::make_shared<ModeInfo>(std::move(attention), std::move(observer), factories)),
      include_fake_(c10::DispatchKey::Fake),
      saved_autograd_state_(c10::AutogradState::get_tls_state()) {
  simulate_device();
  install_saved_tensor_observer();
  c10::AutogradState::get_tls_state().set_multithreading_enabled(false);
}

FakeMode::~FakeMode() { c10::AutogradState::set_tls_state(saved_autograd_state_); }

std::shared_ptr<Observer> current_observer() {
  const ModeInfo* info = current_info();
  return info == nullptr ? nullptr : info->observer;
}

bool is_in_program() {
  const ModeInfo* info = current_info();
  return info != nullptr && info->factories == Factories::on_host;
}

const AttentionPolicy* current_attention_policy() {
  const ModeInfo* info = current_info();
  return info == nullptr ? nullptr : &info->attention;
}

}  // namespace symprof::meta
