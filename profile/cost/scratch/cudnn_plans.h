// Workspaces of cuDNN's plans for convolutions and attention, where they follow from the operands.
#pragma once

#include <cstdint>
#include <optional>

#include "base/device_spec.h"
#include "base/tensor_spec.h"

namespace symprof::profile {

/// Bytes of the workspace in which a plan for tensor cores has its operands: they want channels
/// last, and channels in multiples of 16 bytes. What lies in rows is copied: the input and the
/// output, and a weight of more than one place, of which a gradient takes the role in backward.
/// What lies in channels last already is copied only to add channels. Zero for groups, and for
/// devices where no plan was seen.
///
/// Source: the requests that PyTorch 2.11 with cuDNN 9.19 made on an H200 without cuDNN's benchmark
/// (truth/h200/data/probes.zip, probe-convolution): of 28 forward plans in half precision 26 are
/// these sums but for at most 272 bytes. Weight gradients take up to 40 % more, for partial sums,
/// and fp32 plans sometimes less.
std::int64_t plan_workspace_bytes(const TensorSpec& input, const TensorSpec& weight,
                                  const TensorSpec& output, bool channels_last, std::int64_t groups,
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

}  // namespace symprof::profile
