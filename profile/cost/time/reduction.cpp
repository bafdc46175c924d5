// Reductions: one kernel; rows are the numbers that make one result.
#include <algorithm>

#include "profile/cost/time/families.h"
#include "profile/cost/time/launches.h"

namespace symprof::profile {
namespace {

/// Short rows share a block of threads (block_width and block_height of
/// ATen/native/cuda/Reduce.cuh), so they take turns together.
constexpr std::int64_t shared_block = 512;

/// Few long rows are taken by several blocks each, as many as fill the device, of which every
/// thread has 16 numbers at least (ctas_per_output there).
constexpr std::int64_t blocks_of_multiprocessor = 4, least_of_block = shared_block * 16;

std::int64_t blocks_of_row(std::int64_t rows, std::int64_t length, const DeviceSpec& device) {
  const std::int64_t wanted = device.multiprocessors * blocks_of_multiprocessor;
  if (rows == 0 || rows >= wanted) return 1;
  return std::max<std::int64_t>(std::min(wanted / rows, length / least_of_block), 1);
}

/// The gradient of a bias, and what else sums over all dimensions but the last: neighbours go to
/// different results, so that fewer bytes are on their way for each number. A sum over rows of the
/// same bytes takes 1.2 times less in fp32 and 2 times less in 16 bit (the half of
/// truth/h200/kernel_record that calibrates, 64 Ki x 768 and 4096 x 4096).
double passes_across(const TensorSpec& in, const TensorSpec& out) {
  const bool keeps_last = numbers(out) > 1 && !out.sizes.empty() && !in.sizes.empty() &&
                          out.sizes.back() == in.sizes.back();
  if (!keeps_last) return 1;
  return element_bytes(in.dtype) < 4 ? 2 : 1.2;
}

template <int percent, int launches>
LaunchEstimate reduces(const Call& call, const Cost& cost, const DeviceSpec& device) {
  const TensorSpec *in = call.input(0), *out = call.output(0);
  if (!in || !out) return std::nullopt;
  const std::int64_t results = numbers(*out), length = results > 0 ? numbers(*in) / results : 0;
  const std::int64_t together = length > 0 ? std::max<std::int64_t>(shared_block / length, 1) : 1;
  const std::int64_t rows = (results + together - 1) / together;
  const std::int64_t blocks = blocks_of_row(rows, length * together, device);
  return by_rows(cost, TimeClass::reduction, rows * blocks, length * together / blocks,
                 passes_across(*in, *out) * percent / 100.0, launches);
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
