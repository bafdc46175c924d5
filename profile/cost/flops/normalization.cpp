// Normalization layers. For each element: the mean, the variance (a difference and a multiply-add
// counted with it), the normalization, and with an affine weight the scale: 5, else 4, the factors
// of fvcore (norm_flop_counter). Backward counts the same. With stored statistics only a scale and
// a shift remain: 2, or 1 without a weight.
#include "profile/cost/flops/families.h"
#include "profile/cost/flops/streaming.h"

namespace symprof::profile {
namespace {

/// `weight` and `input`: schema arguments.
template <int weight, int input = 0>
Estimate normalization(const Call& call) {
  const TensorSpec* in = call.input_at(input);
  if (!in) return std::nullopt;
  return streaming(call, {.other = (call.input_at(weight) ? 5 : 4) * elements(*in)});
}

/// Root mean square: no mean to subtract.
template <int weight, int input>
Estimate rms_norm(const Call& call) {
  const TensorSpec* in = call.input_at(input);
  if (!in) return std::nullopt;
  return streaming(call, {.other = (call.input_at(weight) ? 4 : 3) * elements(*in)});
}

enum class Statistics { of_the_batch, stored };

Estimate batch_norm(const Call& call, Statistics statistics, Count running_bytes) {
  const TensorSpec* in = call.input_at(0);
  if (!in) return std::nullopt;
  const bool affine = call.input_at(1) != nullptr;
  const bool stored = statistics == Statistics::stored;
  const int each = stored ? 1 + affine : 4 + affine;
  Cost result = streaming(call, {.other = each * elements(*in)});
  if (!stored) add_to(result.bytes_written, running_bytes.value());
  return result;
}

/// Running mean and variance, updated in place while training: arguments 3 and 4.
Count running_statistics_bytes(const Call& call) {
  Count bytes = 0;
  for (int position : {3, 4})
    if (const TensorSpec* running = call.input_at(position)) bytes += stored_bytes(*running);
  return bytes;
}

/// (input, weight, bias, running_mean, running_var, training, ...); the overload without running
/// statistics has `training` at 3.
Estimate batch_norm_by_flag(const Call& call) {
  const bool training = call.integer(5, 0, call.integer(3, 0, 1)) != 0;
  return batch_norm(call, training ? Statistics::of_the_batch : Statistics::stored,
                    running_statistics_bytes(call));
}
Estimate batch_norm_training(const Call& call) {
  return batch_norm(call, Statistics::of_the_batch, running_statistics_bytes(call));
}
Estimate batch_norm_inference(const Call& call) { return batch_norm(call, Statistics::stored, 0); }

constexpr Rule normalization_rows[] = {
    {"aten::native_layer_norm", normalization<2>, modelled},
    {"aten::native_layer_norm_backward", normalization<5, 1>, modelled},
    {"aten::native_group_norm", normalization<1>, modelled},
    {"aten::native_group_norm_backward", normalization<4, 1>, modelled},
    {"aten::_fused_rms_norm", rms_norm<2, 0>, modelled},
    {"aten::_fused_rms_norm_backward", rms_norm<4, 1>, modelled},
    {"aten::rms_norm", rms_norm<2, 0>, modelled},
    {"aten::native_batch_norm", batch_norm_by_flag, modelled},
    {"aten::_native_batch_norm_legit", batch_norm_by_flag, modelled},
    {"aten::_native_batch_norm_legit_functional", batch_norm_by_flag, modelled},
    {"aten::_native_batch_norm_legit_no_training", batch_norm_inference, modelled},
    {"aten::cudnn_batch_norm", batch_norm_by_flag, modelled},
    {"aten::miopen_batch_norm", batch_norm_by_flag, modelled},
    {"aten::_batch_norm_with_update", batch_norm_training, modelled},
    {"aten::_batch_norm_no_update", batch_norm_inference, modelled},
    {"aten::native_batch_norm_backward", normalization<2, 1>, modelled},
    {"aten::batch_norm_backward", normalization<2, 1>, modelled},
    {"aten::cudnn_batch_norm_backward", normalization<2, 0>, modelled},
    {"aten::miopen_batch_norm_backward", normalization<2, 0>, modelled},
    // The steps of synchronized batch norm: statistics, then scale and shift.
    {"aten::batch_norm_stats", per_input<3>, modelled},
    {"aten::batch_norm_update_stats", per_input<3>, modelled},
    {"aten::batch_norm_elemt", per_output<2>, modelled},
    {"aten::batch_norm_gather_stats", per_input<1>, modelled},
    {"aten::batch_norm_gather_stats_with_counts", per_input<1>, modelled},
    {"aten::batch_norm_backward_reduce", per_input<3>, modelled},
    {"aten::batch_norm_backward_elemt", per_output<3>, modelled},
    // w = g · v / |v|: squares, sums, scale.
    {"aten::_weight_norm_interface", per_output<3>, modelled},
    {"aten::_weight_norm_interface_backward", per_output<5>, modelled},
};

}  // namespace

Rules normalization_rules() { return normalization_rows; }

}  // namespace symprof::profile
