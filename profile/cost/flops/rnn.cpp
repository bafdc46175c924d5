// Recurrent layers and cells. Each weight matrix is multiplied once per step and sequence, for
// every layer and direction; gates and biases are point-wise.
#include "profile/cost/flops/families.h"
#include "profile/cost/flops/streaming.h"
#include "profile/cost/recurrent_weights.h"

namespace symprof::profile {
namespace {

/// Steps × sequences: input [T, B, I], [B, T, I], or packed [sum of lengths, I].
std::optional<Count> steps(const TensorSpec* input) {
  if (!input || input->sizes.size() < 2) return std::nullopt;
  Count count = 1;
  for (std::size_t i = 0; i + 1 < input->sizes.size(); ++i) count *= input->sizes[i];
  return count;
}

Count matrix_elements(const Call& call) {
  Count count = 0;
  for (const TensorSpec* weight : recurrent_matrices(call)) count += elements(*weight);
  return count;
}

constexpr int weight_buffer =
    3;  // Holds the same weights as the list: only one of the two is read.

/// _cudnn_rnn(input, weight[], weight_stride0, weight_buf, hx, ...)
Estimate cudnn_rnn(const Call& call) {
  const std::optional<Count> count = steps(call.input_at(0));
  if (!count) return std::nullopt;
  return cost({.product = 2 * *count * matrix_elements(call)}, read_bytes(call, weight_buffer),
              written_bytes(call));
}

/// _cudnn_rnn_backward(input, weight[], ..., output_mask at 21): data gradients take as many
/// products as the forward pass; weight gradients, if requested, as many again.
Estimate cudnn_rnn_backward(const Call& call) {
  const std::optional<Count> count = steps(call.input_at(0));
  if (!count) return std::nullopt;
  const std::int64_t passes = 1 + call.integer(21, 3, 1);
  return cost({.product = passes * 2 * *count * matrix_elements(call)},
              read_bytes(call, weight_buffer), written_bytes(call));
}

constexpr Rule rnn_rows[] = {
    {"aten::_cudnn_rnn", cudnn_rnn, modelled},
    {"aten::_cudnn_rnn_backward", cudnn_rnn_backward, modelled},
    {"aten::_cudnn_rnn_flatten_weight", moves},
    // Per element of the four (three) gates: two sums and a nonlinearity; then the state.
    {"aten::_thnn_fused_lstm_cell", per_input<4>, modelled},
    {"aten::_thnn_fused_lstm_cell_backward_impl", per_output<4>, modelled},
    {"aten::_thnn_fused_gru_cell", per_input<4>, modelled},
    {"aten::_thnn_fused_gru_cell_backward", per_output<4>, modelled},
};

}  // namespace

Rules rnn_rules() { return rnn_rows; }

}  // namespace symprof::profile
