// Kernels that many rules of times have: by the bytes of a call, and row by row.
#pragma once

#include "profile/cost/time/rules.h"

namespace symprof::profile {

/// The class of products in `dtype` on `device`; nothing where it has no units for it.
/// `allows_tf32`: fp32 numbers may be rounded to TF32 (`tf32_products` of a call and its kin).
std::optional<TimeClass> product_class(DType dtype, const DeviceSpec& device,
                                       bool allows_tf32 = false);

/// Kernels that move the call's bytes `passes` times, in `launches` pieces. Nothing where the cost
/// is not known; no kernel where no byte lies on the device.
LaunchEstimate moved(const Cost& cost, TimeClass time_class, double passes = 1, int launches = 1);

/// The same as a rule.
template <TimeClass time_class, int percent = 100, int launches = 1>
LaunchEstimate moves_bytes(const Call&, const Cost& cost, const DeviceSpec&) {
  return moved(cost, time_class, percent / 100.0, launches);
}

/// The first of `launches`, a kernel that moves bytes, moves so many at least. Nothing else
/// changes; where there is no kernel nothing does.
LaunchEstimate at_least(LaunchEstimate launches, std::int64_t bytes);

/// Rows of `length` numbers, `passes` times over the call's bytes.
LaunchEstimate by_rows(const Cost& cost, TimeClass time_class, std::int64_t rows,
                       std::int64_t length, double passes = 1, int launches = 1);

/// No kernel.
LaunchEstimate launches_nothing(const Call&, const Cost&, const DeviceSpec&);

/// A CPU draws random numbers one by one.
LaunchEstimate draws(const Call&, const Cost&, const DeviceSpec&);

/// As `launches` says, and the host waits for it.
LaunchEstimate waiting(LaunchEstimate launches);

/// Bytes in whose time an element-wise kernel writes `out`, at least, where it cannot move several
/// numbers at once: an operand has to be converted, has other sizes or lies in another order, or
/// there are gaps in the output (ATen/native/cuda/CUDALoops.cuh: launch_unrolled_kernel, and
/// launch_legacy_kernel for what is not contiguous). 0 where it moves vectors of them.
std::int64_t bytes_one_by_one(const Call& call, const TensorSpec& out, const DeviceSpec& device);
/// Where it never does.
std::int64_t bytes_one_by_one(const TensorSpec& out, const DeviceSpec& device);

/// Bytes that DRAM moves while the device's multiprocessors take `numbers`, so many a clock each.
/// 0 on a CPU, and where the device's rates are not known.
std::int64_t bytes_beside(const DeviceSpec& device, std::int64_t numbers, double per_clock);

/// And while so many clocks pass.
std::int64_t bytes_of_clocks(const DeviceSpec& device, double clocks);

/// Bytes of a copy between layouts, as those of class `copy` are counted: in fp32, for a number
/// takes as long in 16 bit. On an H200 0.6 a clock and multiprocessor either way (transposes in
/// truth/h200/kernel_record).
std::int64_t bytes_across(const TensorSpec& tensor, const DeviceSpec& device);

/// An image's channels lie together, (batch, channels, …).
bool has_channels_last(const TensorSpec& tensor);

/// Numbers that lie together in one tensor do so in the other: not across each other.
bool keeps_rows(const TensorSpec& in, const TensorSpec& out);

/// Product of the sizes; 1 for a number.
std::int64_t numbers(const TensorSpec& tensor);

}  // namespace symprof::profile
