// Workspaces of cuDNN's plans for convolutions, where they follow from the operands.
#pragma once

#include <cstdint>

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

}  // namespace symprof::profile
