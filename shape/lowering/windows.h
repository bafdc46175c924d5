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

/// Reads the attributes; `auto_pad` SAME_* pads to ceil(input / stride) outputs, with the odd
/// element after (UPPER) or before (LOWER). Throws Error for lists of other lengths.
Window read_window(const OnnxCall& call, Integers kernel, at::IntArrayRef input_sizes);

/// `x` padded with `value` as the window asks; the window then has no padding left.
at::Tensor pad_explicitly(const at::Tensor& x, Window& window, const at::Scalar& value);

/// True if the padding exceeds what PyTorch's pooling supports: half a kernel, equal on both sides.
bool needs_explicit_pads(const Window& window);

/// The number of windows along each spatial dimension. `ceil_mode` counts an incomplete window if
/// it starts within the input or the padding before it.
Integers count_windows(const Window& window, at::IntArrayRef input_sizes, bool ceil_mode);

/// The sum of each window: [batch, channels, windows …]. `x` is zero-padded, also for an incomplete
/// last window.
at::Tensor sum_windows(const at::Tensor& x, const Window& window, bool ceil_mode);

}  // namespace symprof::lowering
