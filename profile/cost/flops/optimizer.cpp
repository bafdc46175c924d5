// Optimizer steps: operations on lists of tensors (`_foreach_*`), which count per element of the
// first list what the plain operator counts, and the fused kernels of torch/optim.
#include "profile/cost/flops/families.h"
#include "profile/cost/flops/streaming.h"

namespace symprof::profile {
namespace {

/// Elements of the tensors of the list at `position`.
Count list_elements(const Call& call, int position) {
  const CallRecord& record = call.record();
  Count count = 0;
  for (std::size_t i = 0; i < record.inputs.size(); ++i)
    if (const TensorSpec* tensor = call.spec(record.inputs[i]);
        tensor && record.input_positions[i] == position)
      count += elements(*tensor);
  return count;
}

Count list_bytes(const Call& call, int position) {
  const CallRecord& record = call.record();
  Count bytes = 0;
  for (std::size_t i = 0; i < record.inputs.size(); ++i)
    if (record.input_positions[i] == position) bytes += device_bytes(call, record.inputs[i]);
  return bytes;
}

template <int flops_each>
Estimate per_list_element(const Call& call) {
  return streaming(call, {.other = flops_each * list_elements(call, 0)});
}

/// _foreach_copy_, _foreach_zero_: the first list is overwritten unread.
Estimate overwrites_list(const Call& call) {
  return cost({}, read_bytes(call, 0), written_bytes(call));
}

/// _foreach_mm(self[], mat2[]): products pair by pair.
Estimate list_of_products(const Call& call) {
  const CallRecord& record = call.record();
  const std::size_t pairs = record.inputs.size() / 2;
  Count product = 0;
  for (std::size_t i = 0; i < pairs; ++i) {
    const TensorSpec *left = call.spec(record.inputs[i]),
                     *right = call.spec(record.inputs[pairs + i]);
    if (!left || !right || right->sizes.size() != 2) return std::nullopt;
    product += 2 * elements(*left) * right->sizes[1];
  }
  return streaming(call, {.product = product});
}

/// (parameters, gradients, first moments, second moments, largest second moments, steps, ...),
/// updated in place except the gradients. Weight decay 2, first moment 3, second moment 4, bias
/// correction, root and epsilon 3, step 3; the largest second moment 1 more.
Estimate fused_adam(const Call& call) {
  const Count each_once = list_elements(call, 0);
  Count written = 0;
  for (int updated : {0, 2, 3, 4}) written += list_bytes(call, updated);
  return cost({.other = 15 * each_once + list_elements(call, 4)}, read_bytes(call), written);
}

/// (parameters, gradients, momentum buffers, ...): weight decay 2 and step 2; momentum 3 more.
Estimate fused_sgd(const Call& call) {
  return cost({.other = 4 * list_elements(call, 0) + 3 * list_elements(call, 2)}, read_bytes(call),
              list_bytes(call, 0) + list_bytes(call, 2));
}

/// (parameters, gradients, sums of squares, steps, ...): weight decay 2, squares 2, root, epsilon
/// and step 5.
Estimate fused_adagrad(const Call& call) {
  return cost({.other = 9 * list_elements(call, 0)}, read_bytes(call),
              list_bytes(call, 0) + list_bytes(call, 2));
}

constexpr Rule optimizer_rows[] = {
    {"aten::_foreach_add", per_list_element<1>},
    {"aten::_foreach_sub", per_list_element<1>},
    {"aten::_foreach_mul", per_list_element<1>},
    {"aten::_foreach_div", per_list_element<1>},
    {"aten::_foreach_addcmul", per_list_element<3>},
    {"aten::_foreach_addcdiv", per_list_element<3>},
    {"aten::_foreach_lerp", per_list_element<3>},
    {"aten::_foreach_maximum", per_list_element<1>},
    {"aten::_foreach_minimum", per_list_element<1>},
    {"aten::_foreach_clamp_max", per_list_element<1>},
    {"aten::_foreach_clamp_min", per_list_element<1>},
    {"aten::_foreach_max", per_list_element<1>},
    {"aten::_foreach_abs", per_list_element<1>},
    {"aten::_foreach_neg", per_list_element<1>},
    {"aten::_foreach_sign", per_list_element<1>},
    {"aten::_foreach_reciprocal", per_list_element<1>},
    {"aten::_foreach_ceil", per_list_element<1>},
    {"aten::_foreach_floor", per_list_element<1>},
    {"aten::_foreach_round", per_list_element<1>},
    {"aten::_foreach_trunc", per_list_element<1>},
    {"aten::_foreach_frac", per_list_element<2>},
    {"aten::_foreach_sqrt", per_list_element<1>, modelled},
    {"aten::_foreach_rsqrt", per_list_element<1>, modelled},
    {"aten::_foreach_pow", per_list_element<1>, modelled},
    {"aten::_foreach_exp", per_list_element<1>, modelled},
    {"aten::_foreach_expm1", per_list_element<1>, modelled},
    {"aten::_foreach_log", per_list_element<1>, modelled},
    {"aten::_foreach_log10", per_list_element<1>, modelled},
    {"aten::_foreach_log1p", per_list_element<1>, modelled},
    {"aten::_foreach_log2", per_list_element<1>, modelled},
    {"aten::_foreach_sin", per_list_element<1>, modelled},
    {"aten::_foreach_cos", per_list_element<1>, modelled},
    {"aten::_foreach_tan", per_list_element<1>, modelled},
    {"aten::_foreach_asin", per_list_element<1>, modelled},
    {"aten::_foreach_acos", per_list_element<1>, modelled},
    {"aten::_foreach_atan", per_list_element<1>, modelled},
    {"aten::_foreach_sinh", per_list_element<1>, modelled},
    {"aten::_foreach_cosh", per_list_element<1>, modelled},
    {"aten::_foreach_tanh", per_list_element<1>, modelled},
    {"aten::_foreach_sigmoid", per_list_element<1>, modelled},
    {"aten::_foreach_erf", per_list_element<1>, modelled},
    {"aten::_foreach_erfc", per_list_element<1>, modelled},
    {"aten::_foreach_lgamma", per_list_element<1>, modelled},
    {"aten::_foreach_norm", per_list_element<2>, modelled},
    {"aten::_foreach_powsum", per_list_element<2>, modelled},
    {"aten::_foreach_clone", moves},
    {"aten::_foreach_copy", overwrites_list},
    {"aten::_foreach_zero", overwrites_list},
    {"aten::_foreach_mm", list_of_products},
    {"aten::_fused_adam", fused_adam, modelled},
    {"aten::_fused_adamw", fused_adam, modelled},
    {"aten::_fused_sgd", fused_sgd, modelled},
    {"aten::_fused_adagrad", fused_adagrad, modelled},
    {"aten::_amp_foreach_non_finite_check_and_unscale", per_list_element<2>, modelled},
    {"aten::_amp_update_scale", per_output<1>, modelled},
};

}  // namespace

Rules optimizer_rules() { return optimizer_rows; }

}  // namespace symprof::profile
