// Reductions: one kernel; rows are the numbers that make one result.
#include "profile/cost/time/families.h"
#include "profile/cost/time/launches.h"

namespace symprof::profile {
namespace {

template <int percent, int launches>
LaunchEstimate reduces(const Call& call, const Cost& cost, const DeviceSpec&) {
  const TensorSpec *in = call.input(0), *out = call.output(0);
  if (!in || !out) return std::nullopt;
  const std::int64_t rows = numbers(*out);
  return by_rows(cost, TimeClass::reduction, rows, rows > 0 ? numbers(*in) / rows : 0,
                 percent / 100.0, launches);
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
