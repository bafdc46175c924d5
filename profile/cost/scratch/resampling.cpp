// Interpolation and padding: a tensor in another layout than the kernel requires is copied; such an
// output is computed in a temporary (aten/src/ATen/native/cuda: UpSample*.cu, ReflectionPad.cu).
#include "profile/cost/scratch/families.h"
#include "profile/cost/scratch/layout.h"
#include "profile/cost/scratch/row_major_copies.h"

namespace symprof::profile {
namespace {

/// Kernels that accept row-major and channels-last inputs.
Scratch either_layout(const Call& call, const DeviceSpec& device) {
  if (call.input(0) != nullptr && is_channels_last(*call.input(0))) return {};
  return row_major_first(call, device);
}

constexpr ScratchRule resampling_rows[] = {
    {"aten::upsample_nearest1d_backward", row_major_first},
    {"aten::_upsample_nearest_exact1d_backward", row_major_first},
    {"aten::upsample_linear1d_backward", row_major_first},
    {"aten::upsample_nearest2d_backward", either_layout},
    {"aten::_upsample_nearest_exact2d_backward", either_layout},
    {"aten::upsample_bilinear2d_backward", either_layout},
    {"aten::upsample_bicubic2d_backward", row_major_first},
    {"aten::_upsample_bilinear2d_aa", row_major_all},
    {"aten::_upsample_bilinear2d_aa_backward", row_major_first},
    {"aten::upsample_nearest3d", row_major_all},
    {"aten::_upsample_nearest_exact3d", row_major_all},
    {"aten::upsample_nearest3d_backward", row_major_first},
    {"aten::_upsample_nearest_exact3d_backward", row_major_first},
    {"aten::upsample_trilinear3d_backward", row_major_first},
    {"aten::reflection_pad2d", row_major_first},
    {"aten::reflection_pad1d_backward", row_major_first},
    {"aten::reflection_pad2d_backward", row_major_first},
};

}  // namespace

ScratchRules resampling_scratch() { return resampling_rows; }

}  // namespace symprof::profile
