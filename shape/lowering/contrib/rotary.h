// Rotary position embedding.
#pragma once

#include <ATen/core/Tensor.h>

namespace symprof::lowering {

/// `x` [batch, heads, sequence, size] with pairs of its first elements rotated by the angles whose
/// cosines and sines are rows of the caches [positions, rotated / 2]. A pair is an element of the
/// first and of the second half of what is rotated or, `interleaved`, an even and an odd one.
/// `positions` is [batch or 1, sequence].
at::Tensor rotate(const at::Tensor& x, const at::Tensor& cosines, const at::Tensor& sines,
                  const at::Tensor& positions, bool interleaved);

}  // namespace symprof::lowering
