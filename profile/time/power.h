// The clock that a board's power limit sustains.
#pragma once

#include "base/device_spec.h"
#include "profile/time/kernel.h"

namespace symprof::profile {

/// The constants of the model, which all GPUs share (scripts/time/fit_power.py).
struct PowerModel {
  /// Energy of a FLOP at boost clock in a 12 nm process, in pJ.
  double fp32_pj, tensor_pj;
  /// Exponent: energy per FLOP is proportional to the process size to this power.
  double process_power;
  /// The share of a board's power that goes neither to arithmetic nor to memory.
  double rest;
  /// What memory needs at its full bandwidth, in pJ for each byte.
  double hbm_pj, gddr_pj;
};
const PowerModel& power_model();

/// The share, up to 1, of the boost clock that a kernel sustains within `watts`. `flops_per_us`:
/// its rate at boost clock. Energy per FLOP grows with the square of the clock, as voltage follows
/// the clock. 1 for classes without arithmetic, and if the device's file has no process size.
double clock_within(const DeviceSpec& device, TimeClass time_class, double flops_per_us,
                    double watts);

/// The same within the limits in force: the board's, or lower ones that its owner set.
double sustained_clock(const DeviceSpec& device, TimeClass time_class, double flops_per_us);

/// The clock under the power and clock limits that the board's owner set, divided by the clock
/// under the board's default limits. 1: the owner's limits slow nothing down.
double limited_clock(const DeviceSpec& device, TimeClass time_class, double flops_per_us);

}  // namespace symprof::profile
