// Which kernels to measure for a fit, one after the other: those first whose time is least known
// from what was measured before. Who runs them and holds the clock is the caller's choice.
//
// Public header.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "profile/time/fit.h"
#include "profile/time/kernel.h"

namespace symprof::profile {

/// Microseconds of a kernel that runs now; empty: the device cannot run it, which is not asked
/// again.
using KernelTimer = std::function<std::optional<double>(const Kernel&)>;

/// Asked before each kernel, with how many are measured; true ends the sweep.
using SweepEnd = std::function<bool(std::size_t measured)>;

/// How large the kernels of a sweep may be.
struct SweepLimits {
  std::int64_t bytes = 0;  ///< Of memory in use.
  double flops = 0;        ///< Of products; others have no limit but memory.
  bool is_cpu = false;     ///< Attention's backward has a class of its own there.
};

/// Kernels of a class from the smallest to the limits, in fp32 where the class has that choice; on
/// a GPU, rows also in 16 bit. Empty for a class that no sweep has kernels of: recurrent layers.
std::vector<Kernel> sweep_kernels(TimeClass time_class, const SweepLimits& limits);

/// Of one number that a kernel of sweep_kernels reads. What works on a stream of bytes is in fp32
/// here, whatever its numbers are.
std::int64_t number_bytes_of(const Kernel& kernel);

/// A number that sizes draw, the same each time.
std::uint32_t drawn_by(std::int64_t size);

/// The layout in which a sweep measures a product: its file does not say it.
ProductLayout swept_layout(const ProductWork& work);

/// Those that take so long that a device may lower its clocks: they are measured last. Their order
/// stays as it was.
std::vector<Kernel> take_long_kernels(std::vector<Kernel>& kernels, double flops);

/// Measures kernels of `candidates` until `end` says so or all are measured, and adds each to
/// `measured` at once, so that what stops a sweep, an error of the timer too, loses nothing. What
/// `measured` has already is not measured again: a sweep that goes on takes the file of the last.
/// Each class gets as many as its fit needs first; then comes the kernel whose residual is least
/// certain (profile/time/residuals.h; `is_cpu`: by the formulas as they describe a CPU). Throws
/// Error where the timer's answer is no time.
void sweep(std::vector<MeasuredKernel>& measured, const std::vector<Kernel>& candidates,
           const KernelTimer& timer, const SweepEnd& end, bool is_cpu = false);

/// Measurements as JSON, schema symprof.kernels/1, and back. Reading throws Error that names the
/// place in the file.
std::string to_json(const std::vector<MeasuredKernel>& measured);
std::vector<MeasuredKernel> parse_measurements(const std::string& json, const std::string& path);

}  // namespace symprof::profile
