// Kernels that many time rules share: by the bytes of a call, and row-wise.
#pragma once

#include "profile/cost/time/rules.h"

namespace symprof::profile {

/// The class of matrix products in `dtype` on `device`; nullopt if the device does not support it.
/// `allows_tf32`: fp32 may be rounded to TF32 (e.g. `tf32_products` of a call).
std::optional<TimeClass> product_class(DType dtype, const DeviceSpec& device,
                                       bool allows_tf32 = false);

/// Kernels that move the call's bytes `passes` times, in `launches` launches. nullopt if the cost
/// is unknown; no kernel if no byte is on the device.
LaunchEstimate moved(const Cost& cost, TimeClass time_class, double passes = 1, int launches = 1);

/// The same as a rule.
template <TimeClass time_class, int percent = 100, int launches = 1>
LaunchEstimate moves_bytes(const Call&, const Cost& cost, const DeviceSpec&) {
  return moved(cost, time_class, percent / 100.0, launches);
}

/// Raises the bytes of the first kernel of `launches`, a memory-bound one, to at least `bytes`.
/// Without kernels, `launches` is returned unchanged.
LaunchEstimate at_least(LaunchEstimate launches, std::int64_t bytes);

/// Kernels over rows of `length` elements, `passes` times over the call's bytes.
LaunchEstimate by_rows(const Cost& cost, TimeClass time_class, std::int64_t rows,
                       std::int64_t length, double passes = 1, int launches = 1);

/// No kernel.
LaunchEstimate launches_nothing(const Call&, const Cost&, const DeviceSpec&);

/// A CPU draws random numbers one by one.
LaunchEstimate draws(const Call&, const Cost&, const DeviceSpec&);

/// `launches`, and the host waits for the device.
LaunchEstimate waiting(LaunchEstimate launches);

/// Lower bound of the time, as bytes, of an element-wise kernel that writes `out` without vector
/// loads: an operand is cast, broadcast or in another layout, or the output has gaps
/// (ATen/native/cuda/CUDALoops.cuh: launch_unrolled_kernel, and launch_legacy_kernel for
/// noncontiguous tensors). 0 if it is vectorized.
std::int64_t bytes_one_by_one(const Call& call, const TensorSpec& out, const DeviceSpec& device);
/// The same for a kernel that is never vectorized.
std::int64_t bytes_one_by_one(const TensorSpec& out, const DeviceSpec& device);

/// Bytes that DRAM moves in `clocks`.
std::int64_t bytes_of_clocks(const DeviceSpec& device, double clocks);

/// The value under `key` in the device's table of kernel clocks (base/kernel_clocks.h); 0 if the
/// device has no table. Throws Error if the table lacks the key.
double clocks_of(const DeviceSpec& device, std::string_view key);

/// Bytes that DRAM moves while the multiprocessors process `numbers` elements, each at the rate
/// that the table has under `key`. 0 on a CPU, and if the device's rates are unknown.
std::int64_t bytes_at_rate(const DeviceSpec& device, std::int64_t numbers, std::string_view key);

/// Bytes of a copy between layouts, as those of class `copy` are counted: in fp32, for a number
/// takes as long in 16 bit (transposes in truth/h200/kernel_record).
std::int64_t bytes_across(const TensorSpec& tensor, const DeviceSpec& device);

/// True if the channels of (batch, channels, …) are contiguous.
bool has_channels_last(const TensorSpec& tensor);

/// True if elements that are adjacent in one tensor are adjacent in the other (not transposed).
bool keeps_rows(const TensorSpec& in, const TensorSpec& out);

/// Product of the sizes; 1 for a scalar.
std::int64_t numbers(const TensorSpec& tensor);

}  // namespace symprof::profile
