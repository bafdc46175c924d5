// Host lowerings for dtypes without LibTorch CPU kernels.
#pragma once

#include "shape/lowering/lowering.h"

namespace symprof::lowering {

/// `lowering.run(call)`. If LibTorch has no CPU kernel for uint16, uint32 or uint64, the call runs
/// in int64 and its results are converted back; exact below 2^63.
Tensors run_widened(const Lowering& lowering, OnnxCall& call);

}  // namespace symprof::lowering
