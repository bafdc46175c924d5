// Workspaces of cuDNN's plans for convolutions and attention, where they follow from the operands.
#pragma once

#include <cstdint>
#include <optional>

#include "base/device_spec.h"
#include "base/tensor_spec.h"

namespace symprof::profile {

/// Of a plane, a line or a volume: all dimensions but images and channels.
std::int64_t places_of(const TensorSpec& tensor);

enum class PlanPass : std::uint8_t { forward, data_gradient, weight_gradient };

/// A convolution in the roles of its forward pass: `output` is the gradient of it in backward.
struct PlannedConvolution {
  const TensorSpec &input, &weight, &output;
  bool channels_last = false;
  std::int64_t groups = 1;
};

/// A window of one place without strides: each output is a product of one place's channels.
bool is_plain_product(const PlannedConvolution& convolution);

/// Bytes of the workspace of a plan for tensor cores, which has three parts:
/// - its operands where they lie otherwise than it wants them, channels last and in multiples of 16
/// bytes. What lies in
///   rows is copied: the input and the output, and a weight of more than one place; what lies in
///   channels last only to add channels. Images of few colours meet small windows where they lie.
/// - Nothing where a window of one place without strides makes it a product; the weight's gradient
/// is then a product for
///   each image, in fp32, where that takes less than copies.
/// - Partial sums of other weight gradients, in fp32: as many as keep all multiprocessors busy.
///
/// Short sums are not split. Zero for groups, and for devices where no plan was seen.
///
/// Source: the requests that PyTorch 2.11 with cuDNN 9.19 made on an H200 without cuDNN's
/// benchmark: 888 single passes (truth/h200/kernel_record_2) and every convolution of the recorded
/// models (data/probes.zip, probe-convolutions_*). compare_probes.py and docs/accuracy.md say how
/// far it is off: cuDNN's choice of a plan is not known.
std::int64_t plan_workspace_bytes(PlanPass pass, const PlannedConvolution& convolution,
                                  const DeviceSpec& device);

/// Query [batch, heads, length, width], key and value [batch, key_heads, key_length, width or
/// value_width].
struct AttentionSizes {
  std::int64_t batch, heads, length, width, key_heads, key_length, value_width;
};

/// Bytes of the workspace of fused attention's forward pass in half precision. Nothing for devices
/// where no plan was seen, and for heads wider than 128, of which none was seen.
///
/// Source of both: the requests of PyTorch 2.11 with cuDNN 9.19 on an H200
/// (truth/h200/data/probes.zip, probe-attention_scratch_cudnn): all 56 are these sums.
std::optional<std::int64_t> attention_workspace_bytes(const AttentionSizes& sizes,
                                                      const DeviceSpec& device);

/// Bytes of the backward pass's: the query's gradient and the row sums of output times gradient in
/// fp32, and, where heads are grouped, the gradients of key and value for each head of the query.
/// `element_bytes` is that of the key.
std::optional<std::int64_t> attention_backward_workspace_bytes(const AttentionSizes& sizes,
                                                               std::int64_t element_bytes,
                                                               const DeviceSpec& device);

enum class RecurrentKind : std::uint8_t { rnn, lstm, gru };

/// A recurrent layer of cuDNN: `width` numbers come in at each step, `hidden` go out in each of one
/// or two `directions`.
struct RecurrentSizes {
  RecurrentKind kind = RecurrentKind::lstm;
  std::int64_t steps = 0, batch = 0, width = 0, hidden = 0, layers = 1, directions = 1;
  bool is_training = false;
  bool has_dropout = false;  ///< Between layers, in training.
};

/// Bytes of the workspace of its forward pass, which each part of the backward pass takes too.
/// Nothing for devices where none was seen, and for forms of which none was seen: fp32 and few
/// hidden numbers, for which PyTorch asks for another algorithm (use_rnn_persist_small_h in
/// native/cudnn/RNN.cpp).
///
/// The sums below are those of 1 290 requests of PyTorch 2.11 with cuDNN 9.19 on an H200
/// (truth/h200/data/probes.zip: probe-recurrent, probe-recurrent_sizes). compare_probes.py says how
/// near they are: equal but for the alignment of their parts (2 KB at most), except for training of
/// several layers in one direction.
std::optional<std::int64_t> recurrent_workspace_bytes(const RecurrentSizes& sizes,
                                                      std::int64_t element_bytes,
                                                      const DeviceSpec& device);

}  // namespace symprof::profile
