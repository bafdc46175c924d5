#include "profile/cost/scratch/cudnn_trials.h"

#include <algorithm>

#include "base/checked.h"
#include "base/rounding.h"
#include "profile/cost/scratch/precision.h"
#include "profile/cost/scratch/scratch.h"

namespace symprof::profile {
namespace {

bool is_plane(const PlannedConvolution& c) { return c.input.sizes.size() == 4; }

/// Images, input channels and output channels.
struct Counts {
  Count images, in, out;
  Count pairs() const { return in * out; }
};

Counts counts_of(const PlannedConvolution& c) {
  return {c.input.sizes[0], c.input.sizes[1], c.output.sizes[1]};
}

/// As in plan_workspace_bytes(), for every operand that any plan copies.
struct Copies {
  Count input, weight, output;
  Count all() const { return input + weight + output; }
};

Copies copies_of(const PlannedConvolution& c) {
  constexpr std::int64_t of_half = 8, of_group = 4;
  const std::int64_t bytes = element_bytes(c.input.dtype),
                     groups = std::max<std::int64_t>(c.groups, 1);
  const std::int64_t lanes = groups > 1 ? of_group : is_half(c.input.dtype) ? of_half : 1;
  const auto padded = [&](std::int64_t channels) {
    return round_up(channels / groups, lanes) * groups;
  };
  const std::int64_t in = padded(c.input.sizes[1]), out = padded(c.output.sizes[1]);
  const Count images = c.input.sizes[0];
  return {images * in * places_of(c.input) * bytes,
          Count(in) * (out / groups) * places_of(c.weight) * bytes,
          images * out * places_of(c.output) * bytes};
}

Count all_bytes(const PlannedConvolution& c) {
  return Count(c.input.bytes()) + c.weight.bytes() + c.output.bytes();
}

/// A spectrum of real numbers has half the frequencies of one direction, each a complex number.
Count spectrum_bytes(std::int64_t size) {
  constexpr std::int64_t complex_bytes = 8;
  return Count(size) * (size / 2 + 1) * complex_bytes;
}

/// Bytes of FFTs of whole planes: twice the spectra of the product's inputs, or of its outputs, and
/// a copy of the operand that is not transformed in place. 0 if planes are too large.
Count whole_spectra(PlanPass pass, const PlannedConvolution& c, const ConvolutionWindow& window) {
  constexpr std::int64_t smallest = 16, largest = 256;
  std::int64_t needed = 0, size = smallest;
  for (std::size_t i = 0; i < window.padding.size(); ++i)
    needed = std::max(needed, c.input.sizes[2 + i] + 2 * window.padding[i]);
  while (size < needed) size *= 2;
  if (size > largest) return 0;
  const Counts n = counts_of(c);
  const bool is_forward = pass == PlanPass::forward;
  const Count planes = is_forward ? std::max(n.images * n.out, n.images * n.in + n.pairs())
                                  : std::max(n.pairs(), n.images * (n.in + n.out));
  const Count copied = c.channels_last ? all_bytes(c) : (is_forward ? c.weight : c.output).bytes();
  return spectrum_bytes(size) * 2 * planes + copied;
}

/// Bytes of FFTs of tiles. The input gradient of a strided convolution is one convolution per
/// stride phase, with every stride-th row and column of the weight.
Count tiled_spectra(const PlannedConvolution& c, const ConvolutionWindow& window) {
  constexpr std::int64_t tile = 32;
  const std::int64_t stride = window.stride[0], phases = stride * stride;
  const std::int64_t size = c.input.sizes[2], filter = c.weight.sizes[2];
  const std::int64_t part = divide_up(filter, stride);
  const std::int64_t reach =
      stride == 1 ? size + 2 * window.padding[0] : divide_up(size, stride) + part - 1;
  const std::int64_t tiles = reach <= tile ? 1 : 2;
  const Counts n = counts_of(c);
  Count total =
      spectrum_bytes(tile) * (n.pairs() * phases + n.images * tiles * (n.in * phases + n.out));
  if (stride > 1)
    total +=
        Count(phases) * part * part * n.pairs() * float_bytes + c.input.bytes() + c.output.bytes();
  return c.channels_last ? total + all_bytes(c) : total;
}

bool has_tiled_spectra(const PlannedConvolution& c, const ConvolutionWindow& window) {
  constexpr std::int64_t smallest_filter = 3;
  const std::int64_t filter = c.weight.sizes[2];
  return filter >= smallest_filter && filter == c.weight.sizes[3] &&
         window.stride[0] == window.stride[1] && window.stride[0] < filter &&
         c.input.sizes[2] == c.input.sizes[3];
}

/// fp32 partial sums of the weight, one for each 64 output positions.
Count all_partial_sums(const PlannedConvolution& c, const DeviceSpec& device) {
  constexpr std::int64_t tile_bytes = 128 << 10, places_of_a_sum = 64;
  const std::int64_t all_places = (Count(c.output.sizes[0]) * places_of(c.output)).value();
  const Count of_weight = counts_of(c).pairs() * places_of(c.weight) * float_bytes;
  return std::min(Count(device.multiprocessors) * tile_bytes,
                  of_weight * std::max<std::int64_t>(all_places / places_of_a_sum, 1));
}

/// True if cuDNN's depthwise kernels read fp32 in place.
bool is_read_in_place(PlanPass pass, const PlannedConvolution& c) {
  return pass == PlanPass::forward && c.input.dtype == DType::float32 && c.groups > 1 &&
         c.groups == c.input.sizes[1];
}

}  // namespace

std::int64_t trial_workspace_bytes(PlanPass pass, const PlannedConvolution& c,
                                   const ConvolutionWindow& window, const DeviceSpec& device) {
  if (!device.cudnn_copies_operands || is_read_in_place(pass, c)) return 0;
  const bool is_fp32 = c.input.dtype == DType::float32,
             is_for_weight = pass == PlanPass::weight_gradient;
  const Copies copies = copies_of(c);
  Count most = is_plain_product(c) && !is_fp32 && !c.channels_last ? copies.input + copies.output
                                                                   : copies.all();
  if (c.groups > 1) return most.value();
  if (is_for_weight) {
    if (!is_fp32 && c.channels_last) most = 0;
    most += all_partial_sums(c, device);
  }
  const std::array<std::int64_t, 2> ones{1, 1};
  if (!is_plane(c) || window.dilation != ones) return most.value();
  if (is_fp32 && pass == PlanPass::data_gradient && has_tiled_spectra(c, window))
    most = std::max(most, tiled_spectra(c, window));
  if (is_fp32 && pass != PlanPass::data_gradient && window.stride == ones)
    most = std::max(most, whole_spectra(pass, c, window));
  return most.value();
}

}  // namespace symprof::profile
