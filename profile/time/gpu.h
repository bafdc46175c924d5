// A device for the kernel time formulas, in bytes, FLOPs and microseconds.
#pragma once

#include "base/device_spec.h"
#include "profile/time/kernel.h"

namespace symprof::profile {

struct Gpu {
  double multiprocessors = 0;
  double clock = 0;   ///< Cycles per microsecond.
  double memory = 0;  ///< Bytes per microsecond of DRAM.
  double l2_bytes = 0;
  bool is_cpu = false;
  bool is_gddr = false;             ///< Its L2 is slower relative to its arithmetic.
  bool slows_unaligned = false;     ///< Products on tensor cores (product.cpp).
  double link = 0;                  ///< Bytes per microsecond to the host; 0: not known.
  double launch_us = 0;             ///< Time of an empty kernel.
  double rates[time_classes] = {};  ///< FLOPs per microsecond by class; 0: not supported.

  double rate(TimeClass time_class) const { return rates[static_cast<int>(time_class)]; }
};

/// The GPU with its multiprocessors' clock, and so its rates, at `share`.
Gpu at_clock(Gpu gpu, double share);

/// Throws Error that names the keys missing from the device's file.
Gpu gpu_of(const DeviceSpec& device);

}  // namespace symprof::profile
