// Device memory that cuDNN's benchmark mode takes while it tries the plans of a convolution.
#pragma once

#include <array>
#include <cstdint>

#include "base/device_spec.h"
#include "profile/cost/scratch/cudnn_plans.h"

namespace symprof::profile {

/// Stride, padding and dilation of a window in both dimensions of a plane.
struct ConvolutionWindow {
  std::array<std::int64_t, 2> stride{1, 1}, padding{0, 0}, dilation{1, 1};
};

/// Bytes of the largest workspace of all plans that cuDNN offers for a convolution. Under
/// torch.backends.cudnn.benchmark PyTorch allocates this much while it times the plans
/// (generate_and_filter_plans in native/cudnn/Conv_v8.cpp). The largest of:
/// - copies of all operands: channels in multiples of 8 in half precision, of 4 for each group; a
///   row-major 1x1 product is copied without padding;
/// - in fp32, without strides, forward and for the weight: spectra of whole planes, twice, of 16 to
///   256 positions (a power of two) in each direction;
/// - in fp32, for the input: spectra of tiles of 32 x 32 positions;
/// - for the weight also: partial sums, at most a 128 KiB tile per multiprocessor.
///
/// Zero for devices without observed plans; 1-D, 3-D and dilated convolutions use no spectra.
///
/// Source: the first request of 3 584 passes under the benchmark on an H200, with PyTorch 2.11 and
/// cuDNN 9.19 (truth/h200/data/probes.zip, probe-trials_*), which equals the largest workspace of
/// the plans that cuDNN lists. docs/evaluation/accuracy.md reports the error.
std::int64_t trial_workspace_bytes(PlanPass pass, const PlannedConvolution& convolution,
                                   const ConvolutionWindow& window, const DeviceSpec& device);

}  // namespace symprof::profile
