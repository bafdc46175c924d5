// Kernel, strides, pads and dilations of convolution and pooling.
#pragma once

#include <ATen/ATen.h>

#include "shape/lowering/lowering.h"

namespace symprof::lowering {

/// A sliding window over the last `kernel.size()` dimensions of an input.
struct Window {
  Integers kernel, strides, dilations;
  Integers begins, ends;  ///< Padding before and after each dimension.

  bool is_symmetric() const { return begins == ends; }
};

/// Reads the attributes; `auto_pad` SAME_* pads so that the output has ceil(input / stride)
/// elements, the odd one after (UPPER) or before (LOWER). Throws Error for lists of other lengths.
Window read_window(const OnnxCall& call, Integers kernel, at::IntArrayRef input_sizes);

/// `x` padded on both sides as the window asks, with `value`; the window then has no padding left.
at::Tensor pad_explicitly(const at::Tensor& x, Window& window, const at::Scalar& value);

/// True when the padding is more than PyTorch's pooling takes: half a kernel, the same on both
/// sides.
bool needs_explicit_pads(const Window& window);

/// How many windows there are along each spatial dimension. `ceil_mode` counts one that the input
/// does not fill, if it starts within the input or the padding before it.
Integers count_windows(const Window& window, at::IntArrayRef input_sizes, bool ceil_mode);

/// The sum of the elements of every window: [batch, channels, windows …]. `x` is padded with zeros,
/// also where the last window is not filled.
at::Tensor sum_windows(const at::Tensor& x, const Window& window, bool ceil_mode);

}  // namespace symprof::lowering
