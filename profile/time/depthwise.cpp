// Depthwise convolutions: one filter or several per channel. PyTorch's own kernels for row-major
// tensors (native/cuda/DepthwiseConv2d.cu) have a thread per output element, and for the weight
// gradient a block per weight element. cuDNN has kernels for channels last.
#include <algorithm>
#include <cmath>

#include "profile/time/formula.h"

namespace symprof::profile {
namespace {

// Cycles are per multiprocessor, us per kernel.
constexpr Coefficient native_rows[] = {
    {"floor", 2.5, 0.5, 20},        {"memory", 0.8, 0.2, 1},  // of the bandwidth of DRAM
    {"number", 1.2, 0.05, 20},                                // cycles per output element
    {"tap", 0.15, 0.01, 5},                                   // cycles per tap
    {"number_back", 2.4, 0.05, 40},                           // of the input gradient
    {"tap_back", 0.16, 0.01, 5},    {"begin", 4.5, 0.1, 40},  // us per wave of the weight's blocks
    {"step", 0.38, 0.02, 4},     // us per element when all threads of a wave are busy
    {"latency", 0.18, 0.02, 4},  // us per element with few threads
};
/// The coefficients that both lists share, then those of each.
struct At {
  enum : std::uint8_t { floor_us, memory, number, tap, number_back, tap_back };
};
struct NativeAt {
  enum : std::uint8_t { begin = At::tap_back + 1, step, latency };
};
struct LibraryAt {
  enum : std::uint8_t {
    number_weight = At::tap_back + 1,
    tap_weight,
    latency,
    wide,
    number_weight_wide,
    tap_weight_wide,
    direct
  };
};

constexpr Coefficient library_rows[] = {
    {"floor", 2, 0.5, 20},
    {"memory", 0.7, 0.2, 1},
    {"number", 0.12, 0.005, 5},  // The same for cuDNN's kernels.
    {"tap", 0.033, 0.002, 2},
    {"number_back", 0.2, 0.005, 5},
    {"tap_back", 0.07, 0.002, 2},
    {"number_weight", 0.25, 0.005, 5},
    {"tap_weight", 0.03, 0.002, 2},
    {"latency", 0.15, 0.01, 2},              // us per window position
    {"wide", 2, 0.5, 8},                     // a tap in fp32, relative to 16 bit
    {"number_weight_wide", 0.3, 0.005, 10},  // The weight's gradient in fp32 has a kernel of its
    {"tap_weight_wide", 0.1, 0.002, 10},     // own.
    {"direct", 0.8, 0.05, 5},                // a tap of large windows
};

double in_numbers(const ConvolutionWork& c) {
  return static_cast<double>(c.batch * c.in * c.in_channels);
}

double out_numbers(const ConvolutionWork& c) {
  return static_cast<double>(c.batch * c.out * c.out_channels);
}

double memory_us(const ConvolutionWork& c, const Gpu& gpu, double share) {
  return static_cast<double>(c.number_bytes) * (in_numbers(c) + out_numbers(c)) /
         (gpu.memory * share);
}

double cycles_us(double numbers, double of_each, double of_each_tap, const ConvolutionWork& c,
                 const Gpu& gpu) {
  return numbers * (of_each + of_each_tap * static_cast<double>(c.window)) /
         (gpu.multiprocessors * gpu.clock);
}

/// Forward and the input's gradient.
double input_pass_us(const ConvolutionWork& c, const Gpu& gpu, Coefficients f) {
  if (c.pass == ConvolutionPass::forward)
    return cycles_us(out_numbers(c), f[At::number], f[At::tap], c, gpu);
  return cycles_us(in_numbers(c), f[At::number_back], f[At::tap_back], c, gpu);
}

/// Up to eight warps per weight element; each warp processes 32 positions of its images at a time.
double native_weight_us(const ConvolutionWork& c, const Gpu& gpu, Coefficients f) {
  constexpr double most_warps = 8, lanes = 32, warps_at_once = 64;
  const double batch = static_cast<double>(c.batch), warps = std::min(batch, most_warps);
  const double steps = pieces(batch, warps) * pieces(static_cast<double>(c.out), lanes);
  const double blocks = static_cast<double>(c.out_channels * c.window);
  const double waves = blocks * warps / (gpu.multiprocessors * warps_at_once);
  return std::max(waves, 1.0) * f[NativeAt::begin] +
         steps * std::max(f[NativeAt::latency], waves * f[NativeAt::step]);
}

/// As recorded (truth/h200/kernel_record): windows up to 7 x 7 have depthwise kernels, in fp32's
/// weight gradient up to 5 x 5; larger ones run those of any grouped convolution.
bool is_grouped_window(const ConvolutionWork& c) {
  constexpr std::int64_t largest = 49, largest_wide = 25;
  const bool is_wide_weight = c.pass == ConvolutionPass::weight_gradient && c.number_bytes > 2;
  return c.window > (is_wide_weight ? largest_wide : largest);
}

double library_us(const ConvolutionWork& c, const Gpu& gpu, Coefficients f) {
  const bool is_wide = c.number_bytes > 2;
  const double wide = is_wide ? f[LibraryAt::wide] : 1;
  const double direct = is_grouped_window(c) ? f[LibraryAt::direct] : 0;
  const auto us = [&](double numbers, double of_each, double of_each_tap) {
    return cycles_us(numbers, of_each, direct > 0 ? direct : of_each_tap, c, gpu);
  };
  if (c.pass == ConvolutionPass::forward)
    return us(out_numbers(c), f[At::number], f[At::tap] * wide);
  if (c.pass == ConvolutionPass::data_gradient)
    return us(in_numbers(c), f[At::number_back], f[At::tap_back] * wide);
  if (is_wide)
    return us(out_numbers(c), f[LibraryAt::number_weight_wide], f[LibraryAt::tap_weight_wide]);
  return us(out_numbers(c), f[LibraryAt::number_weight], f[LibraryAt::tap_weight]);
}

KernelTime limited(double floor, double both, double work, double memory) {
  const double us = floor + both;
  if (floor > us / 2) return {us, Limit::launch};
  return {us, memory > work ? Limit::memory : Limit::arithmetic};
}

}  // namespace

const std::span<const Coefficient> depthwise_coefficients = native_rows;
const std::span<const Coefficient> library_depthwise_coefficients = library_rows;

KernelTime depthwise_time(const Work& work, const Gpu& gpu, Coefficients f, TimeClass) {
  const auto& c = std::get<ConvolutionWork>(work);
  const double us = c.pass == ConvolutionPass::weight_gradient ? native_weight_us(c, gpu, f)
                                                               : input_pass_us(c, gpu, f);
  const double memory = memory_us(c, gpu, f[At::memory]);
  return limited(f[At::floor_us], std::max(us, memory), us, memory);
}

KernelTime library_depthwise_time(const Work& work, const Gpu& gpu, Coefficients f, TimeClass) {
  const auto& c = std::get<ConvolutionWork>(work);
  const double us = library_us(c, gpu, f), memory = memory_us(c, gpu, f[At::memory]);
  const double floor = f[At::floor_us] + f[LibraryAt::latency] * static_cast<double>(c.window);
  return limited(floor, std::hypot(us, memory), us, memory);
}

std::vector<double> depthwise_sizes(const Work& work) {
  const auto& c = std::get<ConvolutionWork>(work);
  const auto log = [](std::int64_t size) {
    return std::log2(static_cast<double>(std::max<std::int64_t>(size, 1)));
  };
  constexpr double other_pass = 4, other_type = 4;  // Octaves: nearly unrelated.
  return {log(c.batch),
          log(c.out_channels),
          log(c.out) / 2,
          log(c.window),
          log(c.in) - log(c.out),
          other_pass * static_cast<double>(c.pass),
          other_type * log(c.number_bytes)};
}

}  // namespace symprof::profile
