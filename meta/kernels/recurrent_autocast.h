// Autocast for cuDNN's recurrent layers, which a LibTorch build without cuDNN lacks.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace symprof::kernels {

/// The wrapper of `_cudnn_rnn` at the key Autocast (ATen/cudnn/AutocastRNN.cpp): half precision,
/// regardless of autocast's dtype, with all weights copied into one buffer.
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> cudnn_rnn_under_autocast(
    const at::Tensor& input, at::TensorList weights, int64_t per_layer,
    const std::optional<at::Tensor>& weight_buffer, const at::Tensor& hx,
    const std::optional<at::Tensor>& cx, int64_t mode, int64_t hidden, int64_t projection,
    int64_t layers, bool batch_first, double dropout, bool train, bool bidirectional,
    at::IntArrayRef batch_sizes, const std::optional<at::Tensor>& dropout_state);

}  // namespace symprof::kernels
