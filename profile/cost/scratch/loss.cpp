// Losses: element values are materialized before their mean or sum. Sources:
// aten/src/ATen/native/Loss.cpp, cuda/Loss.cu, cuda/NLLLoss2d.cu.

#include "profile/cost/scratch/families.h"
#include "profile/cost/scratch/layout.h"
#include "profile/cost/scratch/split_reduction.h"

namespace symprof::profile {
namespace {

/// Adds the reduction of all `elements` to one number.
void add_mean(Scratch& scratch, const TensorSpec& elements, const DeviceSpec& device) {
  add_reduction(scratch, sum_of(elements, std::vector<bool>(elements.sizes.size(), true)), device);
}

TensorSpec broadcast_of(const TensorSpec& a, const TensorSpec& b) {
  return row_major(a.dtype, a.numel() >= b.numel() ? a.sizes : b.sizes);
}

/// mse_loss and smooth_l1_loss allocate their output at the elements' size and then shrink its
/// sizes, not its storage; the elements are a second block.
template <int reduction>
Scratch beside_elements(const Call& call, const DeviceSpec& device) {
  if (call.integer(reduction, 0, 1) == 0 || call.input_count() < 2) return {};
  const TensorSpec elements = broadcast_of(*call.input(0), *call.input(1));
  Scratch result{.blocks = {elements.bytes()}};
  add_mean(result, elements, device);
  return result;
}

/// The output's storage holds the elements; their mean is a separate tensor that is copied back.
template <int reduction>
Scratch beside_mean(const Call& call, const DeviceSpec& device) {
  if (call.integer(reduction, 0, 1) == 0) return {};
  const TensorSpec elements = row_major(call.input(0)->dtype, call.input(0)->sizes);
  Scratch result{.blocks = {element_bytes(elements.dtype)}};
  add_mean(result, elements, device);
  return result;
}

Scratch huber(const Call& call, const DeviceSpec& device) {
  if (call.integer(2, 0, 1) == 0 || call.input_count() < 2) return {};
  const TensorSpec elements = broadcast_of(*call.input(0), *call.input(1));
  Scratch result{.blocks = {elements.bytes()}};
  result.make_outputs();
  add_mean(result, elements, device);
  return result;
}

/// (input, target, weight, pos_weight, reduction): the logarithm of the sigmoid, and the elements.
Scratch cross_entropy_with_logits(const Call& call, const DeviceSpec& device) {
  if (call.input_at(2) != nullptr || call.input_at(3) != nullptr || call.input_count() < 2)
    return {.is_incomplete = true};
  const TensorSpec elements = broadcast_of(*call.input(0), *call.input(1));
  Scratch result{.blocks = {elements.bytes()}};
  if (call.integer(4, 0, 1) != 0) {
    result.take(elements.bytes());
    result.make_outputs();
    add_mean(result, elements, device);
  } else {
    result.make_outputs();
  }
  return result;
}

Scratch soft_margin_backward(const Call& call, const DeviceSpec&) {
  const TensorSpec* input = call.input_at(1);
  if (input == nullptr) return {.is_incomplete = true};
  const std::int64_t bytes = input->bytes();
  Scratch result{.blocks = {bytes, bytes, bytes}};
  result.give_back(1);
  result.give_back(0);
  result.make_outputs();
  return result;
}

/// A per-row gradient that is an expanded scalar is materialized.
Scratch likelihood_backward(const Call& call, const DeviceSpec&) {
  const TensorSpec* gradient = call.input_at(0);
  if (gradient == nullptr) return {.is_incomplete = true};
  Scratch result;
  if (!is_row_major(*gradient)) result.take(gradient->bytes());
  return result;
}

/// A loss per row, reduced to the mean or sum; none for a single row (cuda/ MultiMarginLoss.cu,
/// MultiLabelMarginCriterion.cu).
template <int reduction>
Scratch margin(const Call& call, const DeviceSpec& device) {
  const TensorSpec* input = call.input_at(0);
  if (input == nullptr) return {.is_incomplete = true};
  Scratch result;
  for (const int position : {0, 1})
    if (const TensorSpec* tensor = call.input_at(position);
        tensor != nullptr && !is_row_major(*tensor))
      result.take(tensor->bytes());
  result.make_outputs();
  if (call.integer(reduction, 0, 1) == 0 || input->sizes.size() < 2) return result;
  const TensorSpec of_rows = row_major(input->dtype, {input->sizes[0]});
  result.take(of_rows.bytes());
  add_mean(result, of_rows, device);
  return result;
}

/// (gradient, input, target, …), each made row-major.
Scratch margin_backward(const Call& call, const DeviceSpec&) {
  Scratch result;
  result.make_outputs();
  for (const int position : {1, 2, 0})
    if (const TensorSpec* tensor = call.input_at(position);
        tensor != nullptr && !is_row_major(*tensor))
      result.take(tensor->bytes());
  return result;
}

/// Lengths and offsets of each target (cuda/LossCTC.cu). (log_probs [time, batch, classes], …)
void add_targets(Scratch& result, const TensorSpec& log_probabilities) {
  for (int i = 0; i < 3; ++i) result.take(log_probabilities.sizes[1] * long_bytes);
}

Scratch connectionist(const Call& call, const DeviceSpec&) {
  const TensorSpec* log_probabilities = call.input_at(0);
  if (log_probabilities == nullptr || log_probabilities->sizes.size() != 3)
    return {.is_incomplete = true};
  Scratch result;
  add_targets(result, *log_probabilities);
  result.make_outputs();
  return result;
}

/// (gradient, log_probs, targets, input_lengths, target_lengths, neg_log_likelihood, log_alpha, …):
/// scratch as large as the saved log_alpha.
Scratch connectionist_backward(const Call& call, const DeviceSpec&) {
  const TensorSpec *log_probabilities = call.input_at(1), *forward = call.input_at(6);
  if (log_probabilities == nullptr || log_probabilities->sizes.size() != 3 || forward == nullptr)
    return {.is_incomplete = true};
  Scratch result;
  add_targets(result, *log_probabilities);
  result.take(forward->bytes());
  result.make_outputs();
  return result;
}

constexpr ScratchRule loss_rows[] = {
    {"aten::_ctc_loss", connectionist},
    {"aten::_ctc_loss_backward", connectionist_backward},
    {"aten::multi_margin_loss", margin<5>},
    {"aten::multi_margin_loss_backward", margin_backward},
    {"aten::multilabel_margin_loss_forward", margin<2>},
    {"aten::multilabel_margin_loss_backward", margin_backward},
    {"aten::mse_loss", beside_elements<2>},
    {"aten::smooth_l1_loss", beside_elements<2>},
    {"aten::huber_loss", huber},
    {"aten::binary_cross_entropy", beside_mean<3>},
    {"aten::soft_margin_loss", beside_mean<2>},
    {"aten::soft_margin_loss_backward", soft_margin_backward},
    {"aten::binary_cross_entropy_with_logits", cross_entropy_with_logits},
    {"aten::nll_loss_backward", likelihood_backward},
    // A workspace of cuDNN, then loops of other operators whose lengths follow from the sizes.
    {"aten::_cudnn_ctc_loss", unknown_scratch},
    {"torch_nn::_linear_cross_entropy_batch_chunked", unknown_scratch},
    {"torch_nn::_linear_cross_entropy_batch_chunked_no_reduction", unknown_scratch},
};

}  // namespace

ScratchRules loss_scratch() { return loss_rows; }

}  // namespace symprof::profile
