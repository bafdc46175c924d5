// Workspaces of cuDNN's plans for convolutions and attention that follow from the operands.
#pragma once

#include <cstdint>
#include <optional>

#include "base/device_spec.h"
#include "base/tensor_spec.h"

namespace symprof::profile {

/// The number of spatial positions: the product of all dimensions except batch and channels.
std::int64_t places_of(const TensorSpec& tensor);

enum class PlanPass : std::uint8_t { forward, data_gradient, weight_gradient };

/// A convolution with its forward roles: in backward, `output` is the output's gradient.
struct PlannedConvolution {
  const TensorSpec &input, &weight, &output;
  bool channels_last = false;
  std::int64_t groups = 1;
};

/// True for a 1x1 window without strides: the convolution is a matrix product over channels.
bool is_plain_product(const PlannedConvolution& convolution);

/// Bytes of the workspace of a plan for tensor cores, which has three parts:
/// - copies of operands that are not channels last in multiples of 16 bytes: row-major inputs and
///   outputs, and weights larger than 1x1; channels-last tensors only to pad the channels. Images
///   of few channels with small windows are read in place.
/// - nothing for a 1x1 window without strides, which is a matrix product; the weight gradient is
///   then one fp32 product per image, if that takes less than copies.
/// - fp32 partial sums of other weight gradients: as many as keep all multiprocessors busy.
///
/// Short sums are not split. Zero for grouped convolutions, and for devices without observed plans.
///
/// Source: the requests that PyTorch 2.11 with cuDNN 9.19 made on an H200 without cuDNN's
/// benchmark: 888 single passes (truth/h200/kernel_record_2) and every convolution of the recorded
/// models (data/probes.zip, probe-convolutions_*). compare_probes.py and
/// docs/evaluation/accuracy.md report the error: cuDNN's plan choice is unknown.
std::int64_t plan_workspace_bytes(PlanPass pass, const PlannedConvolution& convolution,
                                  const DeviceSpec& device);

/// Query [batch, heads, length, width], key and value [batch, key_heads, key_length, width or
/// value_width].
struct AttentionSizes {
  std::int64_t batch, heads, length, width, key_heads, key_length, value_width;
};

/// Workspace bytes of fused attention's forward pass in half precision; nullopt for devices without
/// observed plans, and for heads wider than 128, which were not observed.
///
/// Source of this and the backward formula: the requests of PyTorch 2.11 with cuDNN 9.19 on an H200
/// (truth/h200/data/probes.zip, probe-attention_scratch_cudnn): all 56 equal these formulas.
std::optional<std::int64_t> attention_workspace_bytes(const AttentionSizes& sizes,
                                                      const DeviceSpec& device);

/// Workspace bytes of the backward pass: the query gradient and the row sums of output · gradient
/// in fp32, and, for grouped heads, the gradients of key and value per query head. `element_bytes`
/// is that of the key.
std::optional<std::int64_t> attention_backward_workspace_bytes(const AttentionSizes& sizes,
                                                               std::int64_t element_bytes,
                                                               const DeviceSpec& device);

enum class RecurrentKind : std::uint8_t { rnn, lstm, gru };

/// A recurrent layer of cuDNN: `width` inputs per step, `hidden` outputs per step in each of one or
/// two `directions`.
struct RecurrentSizes {
  RecurrentKind kind = RecurrentKind::lstm;
  std::int64_t steps = 0, batch = 0, width = 0, hidden = 0, layers = 1, directions = 1;
  bool is_training = false;
  bool has_dropout = false;  ///< Between layers, in training.
};

/// Workspace bytes of the forward pass, also taken by each part of the backward pass. nullopt for
/// devices without observations, and for forms that were not observed: fp32, and small hidden
/// sizes, for which PyTorch requests another algorithm (use_rnn_persist_small_h in
/// native/cudnn/RNN.cpp).
///
/// The formulas are fitted to 1 290 requests of PyTorch 2.11 with cuDNN 9.19 on an H200
/// (truth/h200/data/probes.zip: probe-recurrent, probe-recurrent_sizes). compare_probes.py reports
/// the error: equal up to the alignment of their parts (2 KB at most), except for training of
/// several layers in one direction.
std::optional<std::int64_t> recurrent_workspace_bytes(const RecurrentSizes& sizes,
                                                      std::int64_t element_bytes,
                                                      const DeviceSpec& device);

}  // namespace symprof::profile
