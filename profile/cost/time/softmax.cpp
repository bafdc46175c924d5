// Softmax and its relatives, row by row. The backward of softmax first multiplies output and
// gradient in a separate kernel (ATen/native/cuda/SoftMax.cu): six passes instead of three.
#include "profile/cost/time/families.h"
#include "profile/cost/time/launches.h"

namespace symprof::profile {
namespace {

/// `dim`: the schema argument with the dimension.
template <int dim, int percent, int launches>
LaunchEstimate softmax_times_of(const Call& call, const Cost& cost, const DeviceSpec&) {
  const TensorSpec* in = call.input(0);
  if (!in || in->sizes.empty()) return std::nullopt;
  const auto dimensions = static_cast<std::int64_t>(in->sizes.size());
  const std::int64_t given = call.integer(dim, 0, dimensions - 1);
  const std::int64_t place = given < 0 ? given + dimensions : given;
  if (place < 0 || place >= dimensions) return std::nullopt;
  const std::int64_t length = in->sizes[static_cast<std::size_t>(place)];
  return by_rows(cost, TimeClass::softmax, length > 0 ? numbers(*in) / length : 0, length,
                 percent / 100.0, launches);
}

/// A CPU takes as long for it as for softmax's backward.
LaunchEstimate log_softmax_backward(const Call& call, const Cost& cost, const DeviceSpec& device) {
  return device.is_cpu ? softmax_times_of<2, 200, 2>(call, cost, device)
                       : softmax_times_of<2, 100, 1>(call, cost, device);
}

constexpr TimeRule softmax_time_rows[] = {
    {"aten::_softmax", softmax_times_of<1, 100, 1>},
    {"aten::_log_softmax", softmax_times_of<1, 100, 1>},
    {"aten::_softmax_backward_data", softmax_times_of<2, 200, 2>},
    {"aten::_log_softmax_backward_data", log_softmax_backward},
    {"aten::_safe_softmax", softmax_times_of<1, 100, 1>},
    {"aten::_masked_softmax", softmax_times_of<2, 100, 1>},
    {"aten::_masked_softmax_backward", softmax_times_of<3, 100, 1>},
};

}  // namespace

TimeRules softmax_times() { return {nullptr, softmax_time_rows}; }

}  // namespace symprof::profile
