#include "profile/time/power.h"

#include <algorithm>
#include <cmath>

namespace symprof::profile {
namespace {

constexpr double reference_nm = 12;
bool is_on_tensor_cores(TimeClass time_class) {
  switch (time_class) {
    case TimeClass::product_16bit:
    case TimeClass::product_tf32:
    case TimeClass::product_8bit:
    case TimeClass::attention_flash:
    case TimeClass::attention_newer:
    case TimeClass::convolution_16bit:
    case TimeClass::convolution_tf32:
    case TimeClass::recurrent_16bit:
    case TimeClass::recurrent_tf32:
      return true;
    default:
      return false;
  }
}

/// Tensor cores use about the same power in every precision: at twice the rate, a FLOP takes half
/// the energy.
double pj_of(const DeviceSpec& device, TimeClass time_class) {
  const PowerModel& model = power_model();
  const double scale = std::pow(*device.process_nm / reference_nm, model.process_power);
  double per_flop = is_on_tensor_cores(time_class) ? model.tensor_pj : model.fp32_pj;
  if (time_class == TimeClass::product_8bit) per_flop /= 2;
  if (time_class == TimeClass::product_tf32 || time_class == TimeClass::convolution_tf32 ||
      time_class == TimeClass::recurrent_tf32)
    per_flop *= 2;
  return per_flop * scale;
}

}  // namespace

const PowerModel& power_model() {
  static constexpr PowerModel fitted = {
      .fp32_pj = 17.2,
      .tensor_pj = 1.47,
      .process_power = 1.12,
      .rest = 0.1,
      // 3.9 pJ for a bit of HBM2 (M. O'Connor et al., Fine-Grained DRAM, MICRO 2017); GDDR6: twice.
      .hbm_pj = 31,
      .gddr_pj = 60};
  return fitted;
}

double clock_within(const DeviceSpec& device, TimeClass time_class, double flops_per_us,
                    double watts) {
  if (device.is_cpu || !device.process_nm || flops_per_us <= 0) return 1;
  const PowerModel& model = power_model();
  const double byte_pj = device.memory_type == "GDDR" ? model.gddr_pj : model.hbm_pj;
  const double memory = byte_pj * device.memory_bytes_per_second.value_or(0) / 1e12;
  // Its memory does not take more than half of a board's power.
  const double available = std::max(watts * (1 - model.rest) - memory, watts / 2);
  // pJ times FLOPs per microsecond are microwatts.
  const double needed = pj_of(device, time_class) * flops_per_us / 1e6;
  return std::min(1.0, std::sqrt(available / needed));
}

double sustained_clock(const DeviceSpec& device, TimeClass time_class, double flops_per_us) {
  double share = 1;
  if (device.power_watts || device.power_limit_watts)
    share = clock_within(device, time_class, flops_per_us,
                         device.power_limit_watts.value_or(device.power_watts.value_or(0)));
  if (device.clock_limit_hz && device.clock_hz)
    share = std::min(share, *device.clock_limit_hz / *device.clock_hz);
  return share;
}

double limited_clock(const DeviceSpec& device, TimeClass time_class, double flops_per_us) {
  if (!device.power_limit_watts && !device.clock_limit_hz) return 1;
  DeviceSpec unlimited = device;
  unlimited.power_limit_watts = unlimited.clock_limit_hz = std::nullopt;
  return std::min(1.0, sustained_clock(device, time_class, flops_per_us) /
                           sustained_clock(unlimited, time_class, flops_per_us));
}

}  // namespace symprof::profile
