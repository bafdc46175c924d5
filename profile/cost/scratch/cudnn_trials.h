// What cuDNN's benchmark takes of the device while it tries its plans for a convolution.
#pragma once

#include <array>
#include <cstdint>

#include "base/device_spec.h"
#include "profile/cost/scratch/cudnn_plans.h"

namespace symprof::profile {

/// Steps, borders and gaps of a window in both dimensions of a plane.
struct ConvolutionWindow {
  std::array<std::int64_t, 2> stride{1, 1}, padding{0, 0}, dilation{1, 1};
};

/// Bytes of the largest workspace of all plans that cuDNN offers for a convolution. Under
/// torch.backends.cudnn.benchmark PyTorch takes as much while it times them
/// (generate_and_filter_plans in native/cudnn/Conv_v8.cpp). The largest of:
/// - copies of all operands: channels in multiples of 8 in half precision, of 4 for each group;
///   of a plain product in rows, those of its numbers alone;
/// - in fp32, without strides, forward and for the weight: spectra of whole planes, twice, of 16 to
///   256 places (a power of two) in each direction;
/// - in fp32, for the input: spectra of tiles of 32 x 32 places;
/// - for the weight besides: partial sums, a tile of 128 KiB for each multiprocessor at most.
/// Zero for devices where no plan was seen; lines, volumes and windows with gaps have no spectra.
///
/// Source: the first request of 3 584 passes under the benchmark on an H200, with PyTorch 2.11 and
/// cuDNN 9.19 (truth/h200/data/probes.zip, probe-trials_*), and the workspace of each plan that
/// cuDNN lists for them, of which it is the largest. docs/accuracy.md says how far this is off.
std::int64_t trial_workspace_bytes(PlanPass pass, const PlannedConvolution& convolution,
                                   const ConvolutionWindow& window, const DeviceSpec& device);

}  // namespace symprof::profile
