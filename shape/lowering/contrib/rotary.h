// Rotary position embedding.
#pragma once

#include <ATen/core/Tensor.h>

namespace symprof::lowering {

/// `x` [batch, heads, sequence, size] with pairs of its first elements rotated; the cosines and
/// sines of the angles are rows of the caches [positions, rotated / 2]. A pair is one element from
/// each half of the rotated part or, `interleaved`, an even and an odd element. `positions` is
/// [batch or 1, sequence].
at::Tensor rotate(const at::Tensor& x, const at::Tensor& cosines, const at::Tensor& sines,
                  const at::Tensor& positions, bool interleaved);

/// The same, with the cosine and the sine of each token: [batch or 1, 1, sequence, rotated / 2].
at::Tensor rotate_by(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine,
                     bool interleaved);

}  // namespace symprof::lowering
