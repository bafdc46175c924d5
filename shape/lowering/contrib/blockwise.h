// Weights of 2, 4 or 8 bits with a scale for each block of a row.
#pragma once

#include <ATen/core/Tensor.h>

#include "shape/lowering/lowering.h"

namespace symprof::lowering {

struct BlockSizes {
  std::int64_t rows = 0, columns = 0, block = 0, bits = 4;
};

/// The weight [rows, columns] of `bytes` [rows, blocks, block x bits / 8] in the dtype of the
/// scales [rows, blocks]. Zero points [rows, blocks], or undefined: then 2^(bits - 1).
at::Tensor block_weights(const OnnxCall& call, const at::Tensor& bytes, const at::Tensor& scales,
                         const at::Tensor& zero_points, const BlockSizes& sizes);

}  // namespace symprof::lowering
