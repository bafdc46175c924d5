// Chooses the kernels to measure for a fit, most uncertain first. The caller runs and times them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "profile/time/fit.h"
#include "profile/time/kernel.h"

namespace symprof::profile {

/// Runs a kernel and returns its microseconds; empty if the device cannot run it (not retried).
using KernelTimer = std::function<std::optional<double>(const Kernel&)>;

/// Called before each kernel with the number of measurements; true ends the sweep.
using SweepEnd = std::function<bool(std::size_t measured)>;

/// Limits of the kernels of a sweep.
struct SweepLimits {
  std::int64_t bytes = 0;  ///< Memory in use.
  double flops = 0;        ///< FLOPs of products; other kernels are limited by memory only.
  bool is_cpu = false;     ///< A CPU has a separate class for attention's backward.
};

/// Kernels of a class from the smallest to the limits, in fp32 if the class has several dtypes; on
/// a GPU, rows also in 16 bit. Empty for classes without sweep kernels: recurrent layers.
std::vector<Kernel> sweep_kernels(TimeClass time_class, const SweepLimits& limits);

/// Bytes of an element that a kernel of sweep_kernels reads. Stream kernels count as fp32, whatever
/// their dtype.
std::int64_t number_bytes_of(const Kernel& kernel);

/// A deterministic pseudorandom number from a size.
std::uint32_t drawn_by(std::int64_t size);

/// The layout in which a sweep measures a product, which its file does not store.
ProductLayout swept_layout(const ProductWork& work);

/// Removes and returns the kernels long enough for a device to lower its clocks, to be measured
/// last. Keeps the order.
std::vector<Kernel> take_long_kernels(std::vector<Kernel>& kernels, double flops);

/// Measures kernels of `candidates` until `end` returns true or all are measured. Each result is
/// appended to `measured` at once, so that an aborted sweep (also by an error of the timer) keeps
/// its results. Kernels already in `measured` are skipped, so a sweep can be resumed from its file.
/// Each class first gets as many as its fit needs; then the kernel with the least certain residual
/// is next (profile/time/residuals.h; `is_cpu`: with the hyperparameters of a CPU). Throws Error if
/// the timer returns an invalid time.
void sweep(std::vector<MeasuredKernel>& measured, const std::vector<Kernel>& candidates,
           const KernelTimer& timer, const SweepEnd& end, bool is_cpu = false);

/// Measurements as JSON, schema symprof.kernels/1, and back. Reading throws Error that names the
/// place in the file.
std::string to_json(const std::vector<MeasuredKernel>& measured);
std::vector<MeasuredKernel> parse_measurements(const std::string& json, const std::string& path);

}  // namespace symprof::profile
