// The sequential steps of a recurrent layer: a product with the weights, which are in L2, and a
// kernel for the gates. Each is a launch, counted in the kernel's launches. A product of few rows
// is bounded by the weights, the tensor cores, or its own sequential sums.
#include <algorithm>
#include <cmath>

#include "profile/time/formula.h"

namespace symprof::profile {
namespace {

constexpr Coefficient recurrent_rows[] = {
    {"floor", 3, 0.5, 50},
    {"cache", 1.2, 0.1, 10},        // bandwidth of the weights, relative to DRAM
    {"arithmetic", 0.25, 0.02, 1},  // of the peak
    {"gates", 0.5, 0.2, 10},        // bandwidth of the gates' kernel, relative to DRAM
    {"backward", 1.5, 0.3, 6},      // a step's time without launches, relative to a forward step
    {"step", 2, 0.05, 10},          // us of a step in which both kernels begin and end
    {"depth", 1, 0.02, 20},         // us of a product per thousand summed elements
};
struct RecurrentAt {
  enum : std::uint8_t { floor_us, cache, arithmetic, gates, backward, step, depth };
};

/// A product of one row without tensor-core tiles, in fp32 and TF32 alike (cuBLAS's gemv2T, for
/// gradients gemvx): weights are read at these shares of DRAM bandwidth, and the gates take one
/// multiprocessor's latency. Names and times: the fp32 calls of one row in the calibration split of
/// truth/h200/kernel_record.
double step_of_one_row(double weight_bytes, bool backward, const Gpu& gpu) {
  constexpr double share_forward = 0.93, share_backward = 0.48, gates_us = 0.8;
  return weight_bytes / (gpu.memory * (backward ? share_backward : share_forward)) + gates_us;
}

/// The gates' kernel. Small ones are bounded by their latency, which the coefficient holds (fitted
/// on at most 256 sequences); larger ones move bytes at the share of DRAM bandwidth that other
/// point-wise kernels reach, beyond a latency. Judged on models with thousands of sequences:
/// scripts/time/judge_recurrent.py.
double gates_time(double bytes, double fitted_share, const Gpu& gpu) {
  constexpr double share_of_large = 0.65, latency_us = 4;
  return std::min(bytes / (gpu.memory * fitted_share),
                  latency_us + bytes / (gpu.memory * share_of_large));
}

}  // namespace

const std::span<const Coefficient> recurrent_coefficients = recurrent_rows;

KernelTime recurrent_time(const Work& work, const Gpu& gpu, Coefficients f, TimeClass time_class) {
  const auto& r = std::get<RecurrentWork>(work);
  const double batch = static_cast<double>(r.batch), hidden = static_cast<double>(r.hidden);
  const double gates = static_cast<double>(r.gates), number = static_cast<double>(r.number_bytes);
  const double weights = gates * hidden * hidden;
  if (r.batch == 1 && r.number_bytes == 4)
    return {f[RecurrentAt::floor_us] +
                static_cast<double>(r.steps) * step_of_one_row(number * weights, r.backward, gpu),
            Limit::cache};
  const double cache_us = number * weights / (gpu.memory * f[RecurrentAt::cache]);
  const double arithmetic_us =
      2 * batch * weights / (gpu.rate(time_class) * f[RecurrentAt::arithmetic]);
  const double numbers_of_gates = batch * hidden * (2 * gates + 4);
  const double gates_us = gates_time(number * numbers_of_gates, f[RecurrentAt::gates], gpu);
  const double depth_us = (r.backward ? gates : 1) * hidden / 1000 * f[RecurrentAt::depth];
  const double product_us = std::max({cache_us, arithmetic_us, depth_us});
  const double step =
      (f[RecurrentAt::step] + product_us + gates_us) * (r.backward ? f[RecurrentAt::backward] : 1);
  const double us = f[RecurrentAt::floor_us] + static_cast<double>(r.steps) * step;
  if (f[RecurrentAt::step] + depth_us > cache_us + arithmetic_us + gates_us)
    return {us, Limit::launch};
  return {us, cache_us > arithmetic_us ? Limit::cache : Limit::arithmetic};
}

std::vector<double> recurrent_sizes(const Work& work) {
  const auto& r = std::get<RecurrentWork>(work);
  const auto log = [](std::int64_t size) { return std::log2(static_cast<double>(size)); };
  constexpr double other_pass = 4;
  return {log(r.batch), log(r.hidden), log(r.gates), log(r.steps) / 2,
          r.backward ? other_pass : 0.0};
}

}  // namespace symprof::profile
