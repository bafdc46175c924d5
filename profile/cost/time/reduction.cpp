// Reductions: one kernel; a row is the elements of one result.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "profile/cost/time/families.h"
#include "profile/cost/time/launches.h"
#include "profile/cost/time/sums.h"

namespace symprof::profile {
namespace {

/// Short rows share a thread block (block_width and block_height of ATen/native/cuda/Reduce.cuh),
/// so they are processed together.
constexpr std::int64_t shared_block = 512;

/// Few long rows are split over several blocks each, as many as fill the device, with at least 16
/// elements per thread (ctas_per_output there).
constexpr std::int64_t blocks_of_multiprocessor = 4, least_of_block = shared_block * 16;

std::int64_t blocks_of_row(std::int64_t rows, std::int64_t length, const DeviceSpec& device) {
  const std::int64_t wanted = device.multiprocessors * blocks_of_multiprocessor;
  if (rows == 0 || rows >= wanted) return 1;
  return std::max<std::int64_t>(std::min(wanted / rows, length / least_of_block), 1);
}

/// Argument position of the reduced dimensions: for norms, after the order.
int dimensions_at(const Call& call) { return call.op() == "aten::linalg_vector_norm" ? 2 : 1; }

bool is_summed(const Call& call, std::size_t dimension, std::size_t rank) {
  constexpr std::int64_t end = INT64_MIN;
  for (std::size_t i = 0;; ++i) {
    const std::int64_t one = call.integer(dimensions_at(call), i, end);
    if (one == end) return i == 0;  // No list: over all.
    const std::int64_t size = static_cast<std::int64_t>(rank);
    if ((one < 0 ? one + size : one) == static_cast<std::int64_t>(dimension)) return true;
  }
}

/// True if neighbors in memory belong to different results.
bool keeps_neighbors(const Call& call, const TensorSpec& in) {
  for (std::size_t i = in.sizes.size(); i-- > 0;)
    if (in.sizes[i] > 1 && (in.strides.empty() || in.strides[i] == 1))
      return !is_summed(call, i, in.sizes.size());
  return false;
}

/// True if the elements of one result are not contiguous, with others in between.
bool lies_apart(const Call& call, const TensorSpec& in) {
  const std::vector<std::int64_t> strides =
      in.strides.empty() ? contiguous_strides(in.sizes) : in.strides;
  std::int64_t nearest = INT64_MAX, farthest = 0;
  for (std::size_t i = 0; i < in.sizes.size(); ++i) {
    if (in.sizes[i] < 2 || !is_summed(call, i, in.sizes.size())) continue;
    nearest = std::min(nearest, strides[i]), farthest = std::max(farthest, strides[i]);
  }
  for (std::size_t i = 0; i < in.sizes.size(); ++i)
    if (in.sizes[i] > 1 && !is_summed(call, i, in.sizes.size()) && strides[i] > nearest &&
        strides[i] < farthest)
      return true;
  return false;
}

/// Pairs of a number and its place take as long in 16 bit as in fp32.
bool keeps_places(const Call& call) {
  const std::string_view op = call.op();
  return op == "aten::argmax" || op == "aten::argmin" ||
         ((op == "aten::max" || op == "aten::min") && call.output_count() > 1);
}

/// The rate at which numbers in 16 bit are taken: sums along rows are as fast as L2 gives them, a
/// norm squares each number, and a maximum asks each whether it is one. Empty: as all sums.
std::string_view rate_of_halves(const Call& call, bool is_across, bool is_of_rows) {
  const std::string_view op = call.op();
  const bool is_sum = op == "aten::sum" || op == "aten::mean";
  if (!is_sum && op != "aten::linalg_vector_norm")
    return is_across ? "reduction.compared_across_per_clock" : "reduction.compared_per_clock";
  if (is_across || (is_sum && !is_of_rows)) return {};
  return is_sum ? "reduction.added_per_clock" : "reduction.squared_per_clock";
}

std::int64_t bytes_of(const Call& call, const TensorSpec& in, bool is_across, bool is_apart,
                      const DeviceSpec& device) {
  const std::int64_t count = numbers(in), bytes = element_bytes(in.dtype);
  std::string_view rate;
  if (keeps_places(call))
    rate = is_across ? "reduction.pairs_across_per_clock" : "reduction.pairs_per_clock";
  else if (bytes < 4 && !is_apart)
    rate = rate_of_halves(call, is_across, numbers(*call.output(0)) > 1);
  if (rate.empty()) return bytes_of_sum(count, bytes, device);
  return std::max(count * bytes, bytes_at_rate(device, count, rate));
}

template <int percent, int launches>
LaunchEstimate reduces(const Call& call, const Cost& cost, const DeviceSpec& device) {
  const TensorSpec *in = call.input(0), *out = call.output(0);
  if (!in || !out) return std::nullopt;
  const std::int64_t results = numbers(*out), length = results > 0 ? numbers(*in) / results : 0;
  const std::int64_t together = length > 0 ? std::max<std::int64_t>(shared_block / length, 1) : 1;
  const std::int64_t rows = (results + together - 1) / together;
  const std::int64_t blocks = blocks_of_row(rows, length * together, device);
  LaunchEstimate estimate = by_rows(cost, TimeClass::reduction, rows * blocks,
                                    length * together / blocks, percent / 100.0, launches);
  const bool has_kernel = estimate && !estimate->kernels.empty() && length > 0;
  if (!has_kernel || launches > 1 || device.is_cpu) return estimate;
  const bool is_across = keeps_neighbors(call, *in);
  const bool is_apart = !is_across && lies_apart(call, *in);
  const std::int64_t bytes = bytes_of(call, *in, is_across, is_apart, device);
  auto& work = std::get<RowWork>(estimate->kernels[0].work);
  if (is_across)
    estimate->kernels = {sum_across(results, length, bytes, device)};
  else if (is_apart)
    estimate->kernels = {sum_apart(results, length, bytes, device)};
  else
    work.bytes = std::max(work.bytes, bytes);
  return estimate;
}

LaunchEstimate reduces_and_waits(const Call& call, const Cost& cost, const DeviceSpec& device) {
  return waiting(reduces<100, 1>(call, cost, device));
}

constexpr TimeRule reduction_time_rows[] = {
    {"aten::logsumexp", reduces<300, 9>},
    {"aten::_is_all_true", reduces_and_waits},
    {"aten::_is_any_true", reduces_and_waits},
    {"aten::renorm", moves_bytes<TimeClass::elementwise, 200, 4>},
};

}  // namespace

TimeRules reduction_times() { return {reduces<100, 1>, reduction_time_rows}; }

}  // namespace symprof::profile
