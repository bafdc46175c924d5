// Norms. Those of rows go once over their bytes forward; backward a second kernel reads them again
// for the gradients of weight and bias. Batch norm in training reads its input twice, and its
// backward reads input and gradient twice: the batch's statistics come first.
#include "profile/cost/time/families.h"
#include "profile/cost/time/launches.h"

namespace symprof::profile {
namespace {

/// `input`: the schema argument. Rows are as long as the weight, or as the last dimension.
template <int input, int weight, int percent, int launches>
LaunchEstimate norm_of_rows(const Call& call, const Cost& cost, const DeviceSpec&) {
  const TensorSpec *in = call.input_at(input), *scale = call.input_at(weight);
  if (!in || in->sizes.empty()) return std::nullopt;
  const std::int64_t all = numbers(*in);
  const std::int64_t length = scale != nullptr ? numbers(*scale) : in->sizes.back();
  const std::int64_t rows = length > 0 ? all / length : 0;
  return by_rows(cost, TimeClass::layer_norm, rows, length, percent / 100.0, launches);
}

/// A row is a group of channels of one image. (input, weight, bias, N, C, HxW, group, eps), and
/// (grad_out, input, mean, rstd, weight, N, C, HxW, group, output_mask).
template <int input, int first_size, int percent, int launches>
LaunchEstimate norm_of_groups(const Call& call, const Cost& cost, const DeviceSpec&) {
  const TensorSpec* in = call.input_at(input);
  if (!in) return std::nullopt;
  const std::int64_t rows = call.integer(first_size, 0, 1) * call.integer(first_size + 3, 0, 1);
  const std::int64_t length = rows > 0 ? numbers(*in) / rows : 0;
  return by_rows(cost, TimeClass::layer_norm, rows, length, percent / 100.0, launches);
}

/// Read once for the statistics and once to apply them, or with stored ones only applied.
LaunchEstimate batch_norm_times(const Call& call, const Cost& cost, const DeviceSpec&) {
  const bool training = call.integer(5, 0, call.integer(3, 0, 1)) != 0;
  return training ? moved(cost, TimeClass::batch_norm, 1.5, 3)
                  : moved(cost, TimeClass::elementwise);
}

/// cuDNN's is one kernel that keeps what fits.
LaunchEstimate cudnn_batch_norm_times(const Call& call, const Cost& cost, const DeviceSpec&) {
  const bool training = call.integer(5, 0, 1) != 0;
  return training ? moved(cost, TimeClass::batch_norm, 1.5) : moved(cost, TimeClass::elementwise);
}

constexpr TimeRule normalization_time_rows[] = {
    {"aten::native_layer_norm", norm_of_rows<0, 2, 100, 1>},
    {"aten::native_layer_norm_backward", norm_of_rows<1, 5, 167, 2>},
    {"aten::_fused_rms_norm", norm_of_rows<0, 2, 100, 1>},
    {"aten::_fused_rms_norm_backward", norm_of_rows<1, 4, 167, 2>},
    {"aten::native_group_norm", norm_of_groups<0, 3, 150, 3>},
    {"aten::native_group_norm_backward", norm_of_groups<1, 5, 167, 5>},
    {"aten::native_batch_norm", batch_norm_times},
    {"aten::_native_batch_norm_legit", batch_norm_times},
    {"aten::_native_batch_norm_legit_functional", batch_norm_times},
    {"aten::_native_batch_norm_legit_no_training", moves_bytes<TimeClass::elementwise>},
    {"aten::cudnn_batch_norm", cudnn_batch_norm_times},
    {"aten::_batch_norm_with_update", cudnn_batch_norm_times},
    {"aten::_batch_norm_no_update", moves_bytes<TimeClass::elementwise>},
    {"aten::native_batch_norm_backward", moves_bytes<TimeClass::batch_norm, 167, 2>},
    {"aten::batch_norm_backward", moves_bytes<TimeClass::batch_norm, 167, 2>},
    {"aten::cudnn_batch_norm_backward", moves_bytes<TimeClass::batch_norm, 167>},
};

}  // namespace

TimeRules normalization_times() {
  return {moves_bytes<TimeClass::elementwise>, normalization_time_rows};
}

}  // namespace symprof::profile
