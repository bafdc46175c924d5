#include "profile/cost/recurrent_weights.h"

namespace symprof::profile {

std::vector<const TensorSpec*> recurrent_matrices(const Call& call) {
  constexpr int weights_at = 1, stride_at = 2;
  // Of a layer: two matrices; with biases two more tensors; a projection comes last.
  constexpr std::int64_t without_biases = 2;
  const std::int64_t stride = call.integer(stride_at, 0, without_biases);
  const bool has_projection = stride % 2 != 0;
  std::vector<const TensorSpec*> matrices;
  const CallRecord& record = call.record();
  std::int64_t place = 0;
  for (std::size_t i = 0; i < record.inputs.size(); ++i) {
    if (record.input_positions[i] != weights_at) continue;
    const std::int64_t of_layer = place++ % stride;
    const bool is_matrix = of_layer < 2 || (has_projection && of_layer == stride - 1);
    const TensorSpec* weight = call.spec(record.inputs[i]);
    if (is_matrix && weight && weight->sizes.size() == 2) matrices.push_back(weight);
  }
  return matrices;
}

}  // namespace symprof::profile
