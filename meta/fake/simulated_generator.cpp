#include "meta/fake/simulated_generator.h"

#include <ATen/EmptyTensor.h>

#include <array>
#include <cstring>

namespace symprof::meta {
namespace {

// Seed and offset, as kept and saved by ATen/cuda/CUDAGeneratorImpl.cpp.
using State = std::array<std::uint64_t, 2>;

struct SimulatedGenerator final : c10::GeneratorImpl {
  SimulatedGenerator()
      : GeneratorImpl(c10::Device(c10::kCUDA, 0), c10::DispatchKeySet(c10::DispatchKey::CUDA)) {}

  void set_current_seed(std::uint64_t seed) override { state = {seed, 0}; }
  void set_offset(std::uint64_t offset) override { state[1] = offset; }
  std::uint64_t get_offset() const override { return state[1]; }
  std::uint64_t current_seed() const override { return state[0]; }
  std::uint64_t seed() override {
    set_current_seed(c10::detail::getNonDeterministicRandom(true));
    return state[0];
  }
  void set_state(const c10::TensorImpl& saved) override {
    TORCH_CHECK(saved.numel() == sizeof state && saved.dtype() == caffe2::TypeMeta::Make<uint8_t>(),
                "RNG state has to be ", sizeof state, " bytes");
    std::memcpy(state.data(), saved.data(), sizeof state);
  }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    const at::Tensor saved = at::detail::empty_cpu({sizeof state}, at::kByte);
    std::memcpy(saved.mutable_data_ptr(), state.data(), sizeof state);
    return saved.getIntrusivePtr();
  }
  c10::DeviceType device_type() { return c10::kCUDA; }
  SimulatedGenerator* clone_impl() const override {
    auto* copy = new SimulatedGenerator;
    copy->state = state;
    return copy;
  }

  State state = {c10::default_rng_seed_val, 0};
};

}  // namespace

at::Generator make_simulated_generator() { return at::make_generator<SimulatedGenerator>(); }

}  // namespace symprof::meta
