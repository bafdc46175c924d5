// Losses: the formula's operations per element, including the reduction.
#include "profile/cost/flops/families.h"
#include "profile/cost/flops/streaming.h"

namespace symprof::profile {
namespace {

/// nll_loss_forward(self [N, C, ...], target [N, ...], ...): picks one log-probability for each
/// target and sums them.
Estimate nll_loss(const Call& call) {
  const TensorSpec *self = call.input_at(0), *target = call.input_at(1);
  if (!self || !target) return std::nullopt;
  const Count picked = elements(*target);
  return cost({.other = picked}, read_bytes(call, 0) + picked * element_bytes(self->dtype),
              written_bytes(call));
}

/// nll_loss_backward(grad_output, self, target, ...): zeros, then one element per target. Only the
/// shape of `self` is used.
Estimate nll_loss_backward(const Call& call) {
  const TensorSpec *self = call.input_at(1), *target = call.input_at(2);
  if (!self || !target) return std::nullopt;
  const Count picked = elements(*target);
  return cost({.other = picked}, read_bytes(call, 1),
              written_bytes(call) + picked * element_bytes(self->dtype));
}

// LossCTC.cu, per state and time step, adds three log-probabilities and the step's own: two maxima,
// three exponentials with subtractions, two sums, a logarithm, two additions.
constexpr Count operations_of_state = 13;

/// _ctc_loss(log_probs, targets, ...): the loss, and log_alpha [N, T, 2 S + 1].
Estimate ctc_loss(const Call& call) {
  const TensorSpec* log_alpha = call.output(1);
  if (!log_alpha) return std::nullopt;
  return streaming(call, {.other = operations_of_state * elements(*log_alpha)});
}

/// _ctc_loss_backward(grad, log_probs, targets, input_lengths, target_lengths, neg_log_likelihood,
/// log_alpha, ...): log_beta, its log-sum with log_alpha over the states of a class (5 operations
/// each), and per log-probability exp(lp) - exp(...), times the loss gradient (5).
Estimate ctc_loss_backward(const Call& call) {
  const TensorSpec *log_probs = call.input_at(1), *log_alpha = call.input_at(6);
  if (!log_probs || !log_alpha) return std::nullopt;
  return streaming(
      call, {.other = (operations_of_state + 5) * elements(*log_alpha) + 5 * elements(*log_probs)});
}

/// (input [N, F], linear_weight [V, F], …, gradient of the input, of the weight, …): the logits,
/// and one product per requested gradient.
Estimate linear_cross_entropy(const Call& call) {
  const TensorSpec *input = call.input_at(0), *weight = call.input_at(1);
  if (!input || !weight || weight->sizes.empty()) return std::nullopt;
  constexpr int of_input = 12, of_weight = 13;
  const std::int64_t products = 1 + call.integer(of_input, 0, 0) + call.integer(of_weight, 0, 0);
  constexpr std::int64_t flops_each_logit = 8;  // As log_softmax and nll_loss, and their backward.
  const Count rows = input->sizes.empty() ? 1 : input->sizes[0];
  const Count logits = rows * weight->sizes[0];
  return streaming(call, {.product = 2 * elements(*input) * weight->sizes[0] * products,
                          .other = flops_each_logit * logits});
}

constexpr Rule loss_rows[] = {
    {"aten::nll_loss_forward", nll_loss},
    {"aten::nll_loss2d_forward", nll_loss},
    {"aten::nll_loss_backward", nll_loss_backward},
    {"aten::nll_loss2d_backward", nll_loss_backward},
    // (x - y)², summed; the gradient is 2 (x - y) · g / N.
    {"aten::mse_loss", per_input<3>, modelled},
    {"aten::mse_loss_backward", per_output<3>, modelled},
    {"aten::l1_loss", per_input<3>, modelled},
    {"aten::smooth_l1_loss", per_input<5>, modelled},
    {"aten::smooth_l1_loss_backward", per_output<4>, modelled},
    {"aten::huber_loss", per_input<5>, modelled},
    {"aten::huber_loss_backward", per_output<4>, modelled},
    // -(y log x + (1 - y) log(1 - x)), summed.
    {"aten::binary_cross_entropy", per_input<8>, modelled},
    {"aten::binary_cross_entropy_backward", per_output<5>, modelled},
    {"aten::binary_cross_entropy_with_logits", per_input<8>, modelled},
    {"aten::soft_margin_loss", per_input<5>, modelled},
    {"aten::soft_margin_loss_backward", per_output<5>, modelled},
    {"aten::multi_margin_loss", per_input<4>, modelled},
    {"aten::multi_margin_loss_backward", per_output<4>, modelled},
    {"aten::multilabel_margin_loss_forward", per_input<4>, modelled},
    {"aten::multilabel_margin_loss_backward", per_output<4>, modelled},
    {"aten::_ctc_loss", ctc_loss, modelled},
    {"aten::_ctc_loss_backward", ctc_loss_backward, modelled},
    {"torch_nn::_linear_cross_entropy_batch_chunked", linear_cross_entropy, modelled},
};

}  // namespace

Rules loss_rules() { return loss_rows; }

}  // namespace symprof::profile
