#include "measure/real/time_kernels.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/version.h>

#include <algorithm>
#include <cmath>
#include <ranges>
#include <vector>

#include "base/error.h"
#include "measure/cupti/client.h"
#include "measure/gpu.h"
#include "measure/processor.h"
#include "measure/real/call_clock.h"
#include "measure/real/device.h"
#include "measure/real/graph_launch.h"
#include "measure/real/kernel_calls.h"

namespace symprof::measure::real {
namespace {

/// Results are kept for a few calls, so that they do not reuse memory: a network keeps its
/// activations. On a CPU they are kept until they exceed its caches.
constexpr std::size_t fewest_kept = 3, most_kept = 64;
constexpr std::size_t kept_bytes = 128 << 20;
/// Operands of a short call alternate too: each layer of a network has its own weights, and its
/// input was written some layers ago. Operands of a long call exceed the caches.
constexpr int operand_turns = 4;
constexpr double short_us = 10'000;
/// More than the operands and kept results of a CPU's largest kernel.
constexpr std::int64_t touched_bytes = std::int64_t{2} << 30;
/// Total time per kernel, unless fewest_runs take longer.
constexpr double wanted_us = 30'000;
/// A longer CPU kernel runs once.
constexpr double longest_us = 400'000;
constexpr std::int64_t fewest_runs = 3, most_runs = 200, gpu_runs = 9;
/// More than the L2 cache of any GPU.
constexpr std::int64_t flushed_bytes = 256 << 20;

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

double us_since(std::int64_t begin_ns) { return static_cast<double>(now_ns() - begin_ns) / 1e3; }

/// Calls one operator repeatedly, keeping the latest results.
class Calls {
 public:
  explicit Calls(KernelCall call) : kept_(fewest_kept) { calls_.push_back(std::move(call)); }

  /// Adds the same call on other operands, used in turn.
  void add(KernelCall call) { calls_.push_back(std::move(call)); }

  void one() {
    kept_[count_ % kept_.size()] = calls_[count_ % calls_.size()]();
    ++count_;
  }

  /// Runs calls until each kept result has its own memory, at most `most_calls`. On a CPU.
  void warm_up(std::size_t most_calls) {
    const std::size_t bytes = kept_[0].defined() ? kept_[0].nbytes() : kept_bytes;
    const std::size_t most = std::clamp(most_calls, fewest_kept, most_kept);
    kept_.resize(std::clamp(kept_bytes / std::max<std::size_t>(bytes, 1), fewest_kept, most));
    // A result is allocated before the oldest is dropped.
    for (std::size_t i = 0; i <= kept_.size(); ++i) one();
  }

 private:
  std::vector<KernelCall> calls_;
  std::vector<at::Tensor> kept_;
  std::size_t count_ = 0;
};

/// `another` makes the same call with other operands.
double us_on_cpu(Calls& calls, const std::function<KernelCall()>& another) {
  std::int64_t begin = now_ns();
  calls.one();
  const double first = us_since(begin);
  if (first > longest_us) return first;
  for (int i = 1; i < operand_turns && first < short_us; ++i) calls.add(another());
  calls.warm_up(static_cast<std::size_t>(wanted_us / std::max(first, 1.0)));
  const auto runs = std::clamp(static_cast<std::int64_t>(wanted_us / std::max(first, 1.0)),
                               fewest_runs, most_runs);
  std::vector<double> times;
  times.reserve(static_cast<std::size_t>(runs));
  for (std::int64_t i = 0; i < runs; ++i) {
    begin = now_ns();
    calls.one();
    times.push_back(us_since(begin));
  }
  return median_of(std::move(times));
}

/// Host overhead per call with autograd, which records each call and then runs its gradients:
/// measured on a chain of scalar products, forward and backward. Each link is one call forward and
/// two backward, plus one for the sum into the leaf's gradient.
double host_call_us(c10::Device device) {
  constexpr std::int64_t links = 200, calls_of_link = 4, repetitions = 5;
  const auto options = at::TensorOptions().device(device);
  const at::Tensor leaf = at::ones({8}, options).set_requires_grad(true),
                   one = at::ones({8}, options);
  const auto best_us = [&](auto&& work) {
    double best = INFINITY;
    for (std::int64_t i = 0; i < repetitions; ++i) {
      wait_for(device);
      const std::int64_t begin = now_ns();
      work();
      best = std::min(best, us_since(begin));
    }
    return best;
  };
  const double with_autograd = best_us([&] {
    at::Tensor value = one;
    for (std::int64_t i = 0; i < links; ++i) value = value * leaf;
    value.sum().backward();
    leaf.mutable_grad().reset();
  });
  const double alone = best_us([&] {
    const at::NoGradGuard no_grad;
    at::Tensor value = one;
    for (std::int64_t i = 0; i < links; ++i) value = value * leaf;
  });
  // On a GPU a call is only issued here, so all of its time is host time.
  const double of_kernels = device.is_cpu() ? alone * calls_of_link : 0;
  return std::max((with_autograd - of_kernels) / (links * calls_of_link), 0.1);
}

/// Copies of 256 KiB to 512 MiB: the rate of the largest, and the size up to which rates are nearer
/// to the fastest.
struct Memory {
  double bytes_per_second = 0;
  std::int64_t cached_bytes = 0;
};

Memory memory_of_cpu() {
  constexpr int least = 18, most = 29;
  std::vector<std::pair<std::int64_t, double>> rates;  // Bytes per microsecond.
  for (int i = least; i <= most; ++i) {
    const std::int64_t bytes = std::int64_t{1} << i;  // Of both tensors.
    const at::Tensor from = at::zeros({bytes / 8}), to = at::zeros_like(from);
    const KernelCall copy = [&] { return to.copy_(from); };
    Calls copies(copy);
    rates.emplace_back(bytes, static_cast<double>(bytes) / us_on_cpu(copies, [&] { return copy; }));
  }
  const double fastest = std::ranges::max(rates | std::views::values);
  Memory memory{.bytes_per_second = rates.back().second * 1e6, .cached_bytes = rates[0].first};
  for (const auto& [bytes, rate] : rates)
    if (rate > std::sqrt(fastest * rates.back().second)) memory.cached_bytes = bytes;
  return memory;
}

class CpuKernels final : public KernelRunner {
 public:
  CpuKernels() {
    keep_freed_memory(c10::kCPU);
    // Page faults at first writes can take longer than the kernel itself.
    at::zeros({std::min(touched_bytes, machine_memory_bytes().value_or(touched_bytes) / 4)},
              at::kByte);
  }

  std::optional<double> us(const profile::Kernel& kernel) override {
    KernelCall call = kernel_call(kernel, c10::kCPU);
    if (!call) return std::nullopt;
    Calls calls(std::move(call));
    return us_on_cpu(calls, [&] { return kernel_call(kernel, c10::kCPU); });
  }

  DeviceFacts facts() override {
    const std::optional<double> others_share = others_.share();
    const Memory memory = memory_of_cpu();
    DeviceFacts facts{.device = "cpu",
                      .processor = processor_name(),
                      .torch_version = TORCH_VERSION,
                      .driver_version = {},
                      .date = {},
                      .threads = at::get_num_threads(),
                      .memory_bytes = machine_memory_bytes(),
                      .l2_bytes = memory.cached_bytes,
                      .memory_bytes_per_second = memory.bytes_per_second,
                      .clock_hz = processor_clock_hz(),
                      .host_call_us = host_call_us(c10::kCPU),
                      .others_share = others_share};
    constexpr std::int64_t side = 2048;
    const at::Tensor a = at::randn({side, side}), b = at::randn({side, side});
    const KernelCall call = [&] { return at::mm(a, b); };
    Calls product(call);
    const double products = 2.0 * side * side * side;
    const double us = us_on_cpu(product, [&] { return call; });
    facts.flops_per_second = {{"float32", products / us * 1e6}};
    return facts;
  }

 private:
  OtherPrograms others_;
};

class GpuKernels final : public KernelRunner {
 public:
  explicit GpuKernels(c10::Device device) : device_(device) {
    try {
      client_.emplace();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::not_available) throw;  // Falls back to events.
    }
  }

  /// Kernels that PyTorch refuses (no cuDNN engine, out of memory) are not measured.
  std::optional<double> us(const profile::Kernel& kernel) override try {
    const at::AutoGradMode with_gradients(true);  // Attention's gradients use autograd.
    KernelCall call = kernel_call(kernel, device_);
    if (!call) return std::nullopt;
    if (!other_data_.defined())
      other_data_ = at::empty({flushed_bytes}, at::TensorOptions(at::kByte).device(device_));
    Calls calls(std::move(call));
    for (std::size_t i = 0; i < fewest_kept; ++i) calls.one();
    wait_for(device_);
    const double us = client_ ? by_records(calls) : by_events(calls);
    if (us <= 0) return std::nullopt;  // It launched nothing.
    shortest_us_ = std::min(shortest_us_, us);
    return us;
  } catch (const c10::Error&) {
    return std::nullopt;
  }

  DeviceFacts facts() override {
    const gpu::State state = gpu::state_of(device_.index());
    const std::optional<double> gap_us = client_ ? queued_gap_us() : 0;
    client_.reset();  // Recording would add host time to calls.
    DeviceFacts facts{.device = device_.str(),
                      .processor = gpu::name_of(device_.index()),
                      .torch_version = TORCH_VERSION,
                      .driver_version = state.driver_version,
                      .date = {},
                      .threads = at::get_num_threads(),
                      .clock_hz = state.clock_hz,
                      .power_watts = state.power_watts,
                      .host_call_us = host_call_us(device_)};
    if (std::isfinite(shortest_us_)) facts.launch_us = shortest_us_;
    facts.graph_launch_us = graph_launch_us(device_);
    facts.kernel_gap_us = gap_us;
    if (const std::optional<std::int64_t> used = gpu::used_bytes())
      facts.context_bytes = *used - reserved_bytes(device_);
    return facts;
  }

 private:
  /// Evicts L2. In a network, a call's operands are mostly not in L2: weights were read a step ago,
  /// and saved tensors were written hundreds of calls ago.
  void flush() { other_data_.zero_(); }

  double by_records(Calls& calls) {
    std::int64_t ns = 0;
    for (std::int64_t i = 0; i < gpu_runs; ++i) {
      flush();
      wait_for(device_);
      client_->take();
      calls.one();
      wait_for(device_);
      for (const cupti::Work& work : client_->take().works) ns += work.end_ns - work.begin_ns;
    }
    return static_cast<double>(ns) / 1e3 / gpu_runs;
  }

  /// The gap between empty kernels that the host issues while the GPU is busy with flushes.
  std::optional<double> queued_gap_us() {
    constexpr int flushes = 40, kernels = 100;
    if (!other_data_.defined()) return std::nullopt;
    at::Tensor number = at::zeros({1}, at::TensorOptions().device(device_));
    number.add_(1);  // Loads the kernel's code.
    wait_for(device_);
    client_->take();
    for (int i = 0; i < flushes; ++i) flush();
    for (int i = 0; i < kernels; ++i) number.add_(1);
    wait_for(device_);
    std::vector<cupti::Work> works = client_->take().works;
    if (works.size() < kernels) return std::nullopt;
    std::ranges::sort(works, {}, &cupti::Work::begin_ns);
    std::vector<double> gaps;
    for (std::size_t i = works.size() - kernels + 1; i < works.size(); ++i)
      gaps.push_back(static_cast<double>(works[i].begin_ns - works[i - 1].end_ns) / 1e3);
    return std::max(median_of(std::move(gaps)), 0.0);
  }

  /// The host issues the call while the GPU flushes.
  double by_events(Calls& calls) {
    const auto recorded = [&] {
      c10::Event event(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
      event.record(c10::impl::VirtualGuardImpl(device_.type()).getStream(device_));
      return event;
    };
    double us = 0;
    for (std::int64_t i = 0; i < gpu_runs; ++i) {
      flush();
      const c10::Event begin = recorded();
      calls.one();
      const c10::Event end = recorded();
      wait_for(device_);
      us += begin.elapsedTime(end) * 1e3;
    }
    return us / gpu_runs;
  }

  c10::Device device_;
  std::optional<cupti::Client> client_;
  at::Tensor other_data_;
  double shortest_us_ = INFINITY;
};

}  // namespace
}  // namespace symprof::measure::real

namespace symprof::measure {

std::unique_ptr<KernelRunner> time_kernels(const std::string& name) {
  const c10::Device device = real::device_of(name);
  if (device.is_cpu()) return std::make_unique<real::CpuKernels>();
  return std::make_unique<real::GpuKernels>(device);
}

}  // namespace symprof::measure
