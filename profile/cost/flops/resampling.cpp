// Interpolation, grid sampling and padding: a multiply-add (2 FLOPs) per source element of each
// result: 2 linear, 4 bilinear, 8 trilinear, 16 bicubic, 36 Lanczos. Nearest-neighbor sampling and
// padding move elements; their gradients sum them.
#include "profile/cost/flops/families.h"
#include "profile/cost/flops/streaming.h"

namespace symprof::profile {
namespace {

constexpr Rule resampling_rows[] = {
    {"aten::upsample_nearest1d", moves},
    {"aten::upsample_nearest2d", moves},
    {"aten::upsample_nearest3d", moves},
    {"aten::_upsample_nearest_exact1d", moves},
    {"aten::_upsample_nearest_exact2d", moves},
    {"aten::_upsample_nearest_exact3d", moves},
    {"aten::upsample_nearest1d_backward", per_input<1>, modelled},
    {"aten::upsample_nearest2d_backward", per_input<1>, modelled},
    {"aten::upsample_nearest3d_backward", per_input<1>, modelled},
    {"aten::_upsample_nearest_exact1d_backward", per_input<1>, modelled},
    {"aten::_upsample_nearest_exact2d_backward", per_input<1>, modelled},
    {"aten::_upsample_nearest_exact3d_backward", per_input<1>, modelled},
    {"aten::upsample_linear1d", per_output<4>, modelled},
    {"aten::upsample_linear1d_backward", per_input<4>, modelled},
    {"aten::upsample_bilinear2d", per_output<8>, modelled},
    {"aten::upsample_bilinear2d_backward", per_input<8>, modelled},
    {"aten::upsample_trilinear3d", per_output<16>, modelled},
    {"aten::upsample_trilinear3d_backward", per_input<16>, modelled},
    {"aten::upsample_bicubic2d", per_output<32>, modelled},
    {"aten::upsample_bicubic2d_backward", per_input<32>, modelled},
    {"aten::_upsample_bilinear2d_aa", per_output<8>, modelled},
    {"aten::_upsample_bilinear2d_aa_backward", per_input<8>, modelled},
    {"aten::_upsample_bicubic2d_aa", per_output<32>, modelled},
    {"aten::_upsample_bicubic2d_aa_backward", per_input<32>, modelled},
    {"aten::_upsample_lanczos2d_aa", per_output<72>, modelled},
    {"aten::_upsample_lanczos2d_aa_backward", per_input<72>, modelled},
    {"aten::grid_sampler_2d", per_output<8>, modelled},
    {"aten::grid_sampler_2d_backward", per_input<16>, modelled},
    {"aten::grid_sampler_3d", per_output<16>, modelled},
    {"aten::grid_sampler_3d_backward", per_input<32>, modelled},
    {"aten::cudnn_grid_sampler", per_output<8>, modelled},
    {"aten::cudnn_grid_sampler_backward", per_output<16>, modelled},
    {"aten::affine_grid_generator", per_output<6>, modelled},
    {"aten::cudnn_affine_grid_generator", per_output<6>, modelled},
    {"aten::cudnn_affine_grid_generator_backward", per_input<6>, modelled},
    {"aten::reflection_pad1d", moves},
    {"aten::reflection_pad2d", moves},
    {"aten::reflection_pad3d", moves},
    {"aten::replication_pad1d", moves},
    {"aten::replication_pad2d", moves},
    {"aten::replication_pad3d", moves},
    {"aten::reflection_pad1d_backward", per_input<1>, modelled},
    {"aten::reflection_pad2d_backward", per_input<1>, modelled},
    {"aten::reflection_pad3d_backward", per_input<1>, modelled},
    {"aten::replication_pad1d_backward", per_input<1>, modelled},
    {"aten::replication_pad2d_backward", per_input<1>, modelled},
    {"aten::replication_pad3d_backward", per_input<1>, modelled},
};

}  // namespace

Rules resampling_rules() { return resampling_rows; }

}  // namespace symprof::profile
