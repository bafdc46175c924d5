#include "meta/kernels/recurrent_autocast.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/LegacyTypeDispatch.h>

#include <vector>

#include "meta/kernels/cell.h"

namespace symprof::kernels {
namespace {

using at::Tensor;
using at::TensorList;
using std::optional;

struct FlatWeights {
  Tensor buffer;
  std::vector<Tensor> parts;
};

// copy_weights_to_flat_buf_views (native/cudnn/RNN.cpp): a buffer of zeros with a column view per
// weight, each of which autograd treats as a separate tensor.
FlatWeights flatten(TensorList weights, int64_t absent_biases) {
  int64_t total = absent_biases;
  for (const Tensor& weight : weights) total += weight.numel();
  FlatWeights flat{at::zeros({total}, weights[0].options().dtype(at::kHalf)), {}};
  int64_t offset = 0;
  for (const Tensor& weight : weights) {
    const at::AutoDispatchBelowADInplaceOrView own_tensor;
    flat.parts.push_back(flat.buffer.narrow(0, offset, weight.numel()).unsqueeze(1));
    offset += weight.numel();
  }
  for (std::size_t i = 0; i < weights.size(); ++i)
    flat.parts[i].copy_(weights[i].view({weights[i].numel(), 1}));
  return flat;
}

bool is_cast(const Tensor& tensor) {
  return at::autocast::is_eligible(tensor, c10::kCUDA) && tensor.scalar_type() != at::kHalf;
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> cudnn_rnn_under_autocast(
    const Tensor& input, TensorList weights, int64_t per_layer,
    const optional<Tensor>& weight_buffer, const Tensor& hx, const optional<Tensor>& cx,
    int64_t mode, int64_t hidden, int64_t projection, int64_t layers, bool batch_first,
    double dropout, bool train, bool bidirectional, at::IntArrayRef batch_sizes,
    const optional<Tensor>& dropout_state) {
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::DispatchKey::Autocast);
  for (const Tensor& weight : weights)
    TORCH_CHECK(weight.scalar_type() == weights[0].scalar_type(),
                "Weight scalar types do not match.");
  const bool has_buffer = weight_buffer && weight_buffer->defined();
  FlatWeights flat{has_buffer ? *weight_buffer : Tensor(), weights.vec()};
  if (is_cast(has_buffer ? *weight_buffer : weights[0]))
    flat = flatten(weights, absent_biases(static_cast<Cell>(mode), per_layer, hidden,
                                          layers * (bidirectional + 1)));
  // In the order in which PyTorch's compiler evaluates the arguments: last to first.
  const optional<Tensor> half_cx = at::autocast::cached_cast(at::kHalf, cx, c10::kCUDA);
  const Tensor half_hx = at::autocast::cached_cast(at::kHalf, hx, c10::kCUDA);
  const Tensor half_input = at::autocast::cached_cast(at::kHalf, input, c10::kCUDA);
  return at::_cudnn_rnn(half_input, flat.parts, per_layer, flat.buffer, half_hx, half_cx, mode,
                        hidden, projection, layers, batch_first, dropout, train, bidirectional,
                        batch_sizes, dropout_state);
}

}  // namespace symprof::kernels
