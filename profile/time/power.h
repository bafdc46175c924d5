// The clock that a board's power limit sustains.
#pragma once

#include "base/device_spec.h"
#include "profile/time/kernel.h"

namespace symprof::profile {

/// The constants of the model, which all GPUs share (scripts/time/fit_power.py).
struct PowerModel {
  /// Energy of a FLOP at boost clock in a 12 nm process, in pJ.
  double fp32_pj, tensor_pj;
  /// Energy falls with the process' size as its power.
  double process_power;
  /// The share of a board's power that neither arithmetic nor memory gets.
  double rest;
  /// What memory needs at its full bandwidth, in pJ for each byte.
  double hbm_pj, gddr_pj;
};
const PowerModel& power_model();

/// The share, up to 1, of the boost clock that remains within `watts` for what would make so many
/// FLOPs at boost clock: dynamic power grows with the square of the clock, as voltage follows
/// it. 1 for classes without arithmetic, and where the device's file has no process.
double clock_within(const DeviceSpec& device, TimeClass time_class, double flops_per_us,
                    double watts);

/// The same within the limits of the board and of its owner.
double sustained_clock(const DeviceSpec& device, TimeClass time_class, double flops_per_us);

/// How much slower than the board's own limits those of its owner make the clock; up to 1.
double limited_clock(const DeviceSpec& device, TimeClass time_class, double flops_per_us);

}  // namespace symprof::profile
