// Recurrent layers: cuDNN's fused layers (native/cudnn/RNN.cpp) and the fused cells
// (native/cuda/RNN.cu).
#include <ATen/ATen.h>
#include <torch/library.h>

#include <algorithm>

#include "meta/kernels/allocation.h"
#include "meta/kernels/cell.h"
#include "meta/kernels/families.h"

namespace symprof::kernels {
namespace {

using at::IntArrayRef;
using at::Tensor;
using at::TensorList;
using std::optional;

struct Layers {
  Cell cell;
  int64_t hidden, projection, count, directions;
  double dropout;

  int64_t output_width() const { return projection != 0 ? projection : hidden; }
};

// The steps and batch of an input; packed inputs are [sum of batch sizes, width].
struct Sequence {
  int64_t length, batch;
  bool packed;
};

Sequence sequence_of(const Tensor& input, bool batch_first, IntArrayRef batch_sizes) {
  if (!batch_sizes.empty()) {
    return {static_cast<int64_t>(batch_sizes.size()), batch_sizes[0], true};
  }
  return batch_first ? Sequence{input.size(1), input.size(0), false}
                     : Sequence{input.size(0), input.size(1), false};
}

// Time-first in memory; batch-first is a transposed view.
Tensor rows(const Tensor& input, const Sequence& sequence, int64_t width, bool batch_first) {
  if (sequence.packed) return fresh({input.size(0), width}, input);
  const Tensor result = fresh({sequence.length, sequence.batch, width}, input);
  return batch_first ? result.transpose(0, 1) : result;
}

int64_t total_size(TensorList weights) {
  int64_t total = 0;
  for (const Tensor& weight : weights) total += weight.numel();
  return total;
}

int64_t rounded_up(int64_t bytes) {
  constexpr int64_t step = 32;
  return (bytes + step - 1) / step * step;
}

// The reserve that the forward pass keeps for backward. cudnnGetRNNTempSpaceSizes has no public
// formula; this one matches all 180 training layers that PyTorch 2.11 with cuDNN 9.19 ran on an
// H200 (truth/h200/data/probes.zip, probe-recurrent): per step, layer and direction the gates (for
// a GRU separately for input and state) and an LSTM's cell; the outputs of all layers but the last,
// plus one bit per number if dropout follows. No measured layer was packed or had a projection.
int64_t reserve_bytes(const Tensor& input, const Sequence& sequence, const Layers& layers) {
  constexpr int64_t beside = 256, bits = 8;
  const int64_t steps = sequence.packed ? input.size(0) : sequence.length * sequence.batch;
  const int64_t cell_state = layers.cell == Cell::lstm ? 1 : 0;
  const int64_t kept_gates = gates(layers.cell) * (layers.cell == Cell::gru ? 2 : 1);
  const int64_t of_layers = layers.count * (kept_gates + cell_state) * layers.hidden;
  const int64_t between = layers.count - 1;
  const int64_t numbers = steps * layers.directions * (of_layers + between * layers.output_width());
  const int64_t outputs = steps * layers.directions * layers.output_width();
  const int64_t mask =
      layers.dropout > 0 ? layers.directions * rounded_up((outputs + bits - 1) / bits) : 0;
  return rounded_up(numbers * static_cast<int64_t>(input.element_size())) + between * mask + beside;
}

// The check of nn.RNNBase (check_hidden_size); without it the kernel would read out of bounds.
void check_state(const Tensor& state, IntArrayRef wanted) {
  TORCH_CHECK(state.sizes() == wanted, "Expected hidden size ", wanted, ", got ", state.sizes());
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> cudnn_rnn(
    const Tensor& input, TensorList weights, int64_t per_layer,
    const optional<Tensor>& weight_buffer, const Tensor& hx, const optional<Tensor>& cx,
    int64_t mode, int64_t hidden, int64_t projection, int64_t count, bool batch_first,
    double dropout, bool train, bool bidirectional, IntArrayRef batch_sizes,
    const optional<Tensor>&) {
  const Layers layers{static_cast<Cell>(mode), hidden, projection, count,
                      bidirectional ? 2 : 1,   dropout};
  const Sequence sequence = sequence_of(input, batch_first, batch_sizes);
  const int64_t states = count * layers.directions;
  if (!sequence.packed) {
    check_state(hx, {states, sequence.batch, layers.output_width()});
    if (present(cx)) check_state(*cx, {states, sequence.batch, hidden});
  }
  const int64_t reserve = train ? reserve_bytes(input, sequence, layers) : 0;
  return {rows(input, sequence, layers.output_width() * layers.directions, batch_first),
          fresh({states, sequence.batch, layers.output_width()}, hx),
          present(cx) ? fresh({states, sequence.batch, hidden}, *cx) : fresh({0}, hx),
          fresh({reserve}, input, at::kByte),
          present(weight_buffer)
              ? *weight_buffer
              : fresh({total_size(weights) + absent_biases(layers.cell, per_layer, hidden, states)},
                      weights[0])};
}

// Views of one flat buffer. Without biases, for which cuDNN's buffer has space all the same, they
// are copied out of it (_cudnn_rnn_backward_weight in native/cudnn/RNN.cpp).
std::vector<Tensor> weight_gradients(TensorList weights, bool has_biases) {
  std::vector<Tensor> gradients;
  if (!has_biases) {
    for (const Tensor& weight : weights) gradients.push_back(contiguous_like(weight));
    return gradients;
  }
  const Tensor buffer = fresh({total_size(weights)}, weights[0]);
  int64_t offset = 0;
  for (const Tensor& weight : weights) {
    gradients.push_back(buffer.narrow(0, offset, weight.numel()).view(weight.sizes()));
    offset += weight.numel();
  }
  return gradients;
}

std::tuple<Tensor, Tensor, Tensor, std::vector<Tensor>> cudnn_rnn_backward(
    const Tensor& input, TensorList weights, int64_t per_layer, const Tensor&, const Tensor& hx,
    const optional<Tensor>& cx, const Tensor&, const optional<Tensor>&, const optional<Tensor>&,
    const optional<Tensor>&, int64_t, int64_t, int64_t, int64_t, bool batch_first, double, bool,
    bool, IntArrayRef batch_sizes, const optional<Tensor>&, const Tensor&,
    std::array<bool, 4> wanted) {
  const Sequence sequence = sequence_of(input, batch_first, batch_sizes);
  return {rows(input, sequence, input.size(-1), batch_first), contiguous_like(hx),
          present(cx) ? contiguous_like(*cx) : Tensor(),
          wanted[3] ? weight_gradients(weights, has_biases(per_layer))
                    : std::vector<Tensor>(weights.size())};
}

Tensor flatten_weight(TensorList weights, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
                      bool, bool) {
  return fresh({total_size(weights)}, weights[0]);
}

std::tuple<Tensor, Tensor, Tensor> lstm_cell(const Tensor& input_gates, const Tensor&,
                                             const Tensor& cx, const optional<Tensor>&,
                                             const optional<Tensor>&) {
  return {contiguous_like(cx), contiguous_like(cx), contiguous_like(input_gates)};
}

std::tuple<Tensor, Tensor, Tensor> lstm_cell_backward(const optional<Tensor>&,
                                                      const optional<Tensor>&, const Tensor& cx,
                                                      const Tensor&, const Tensor& workspace,
                                                      bool has_bias) {
  return {contiguous_like(workspace), contiguous_like(cx),
          has_bias ? fresh({workspace.size(1)}, workspace) : Tensor()};
}

std::tuple<Tensor, Tensor> gru_cell(const Tensor&, const Tensor&, const Tensor& hx,
                                    const optional<Tensor>&, const optional<Tensor>&) {
  return {contiguous_like(hx), fresh({hx.size(0), hx.size(1) * 5}, hx)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> gru_cell_backward(const Tensor& grad_hy,
                                                                     const Tensor& workspace,
                                                                     bool has_bias) {
  const int64_t width = grad_hy.size(1) * 3;
  const auto gradient = [&] { return fresh({workspace.size(0), width}, workspace); };
  const auto bias = [&] { return has_bias ? fresh({width}, workspace) : Tensor(); };
  return {gradient(), gradient(), contiguous_like(grad_hy), bias(), bias()};
}

}  // namespace

void register_recurrent(torch::Library& library) {
  library.impl("_cudnn_rnn", &cudnn_rnn);
  library.impl("_cudnn_rnn_backward", &cudnn_rnn_backward);
  library.impl("_cudnn_rnn_flatten_weight", &flatten_weight);
  library.impl("_thnn_fused_lstm_cell", &lstm_cell);
  library.impl("_thnn_fused_lstm_cell_backward_impl", &lstm_cell_backward);
  library.impl("_thnn_fused_gru_cell", &gru_cell);
  library.impl("_thnn_fused_gru_cell_backward", &gru_cell_backward);
}

}  // namespace symprof::kernels
