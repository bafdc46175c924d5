// Operators on lists of tensors. Their pointers are passed as kernel arguments
// (aten/src/ATen/native/cuda/MultiTensorApply.cuh); reductions combine partial results in global
// memory (ForeachReduceOp.cu).
#include <algorithm>

#include "base/rounding.h"
#include "profile/cost/scratch/families.h"
#include "profile/cost/scratch/layout.h"

namespace symprof::profile {
namespace {

constexpr std::int64_t chunk = 65536;  // Elements per block.

/// Partial results: tensors times the chunk count of the longest tensor.
std::int64_t places(const Call& call) {
  std::int64_t most = 0, tensors = 0;
  for (; call.input(static_cast<std::size_t>(tensors)) != nullptr; ++tensors)
    most = std::max(most, divide_up(call.input(static_cast<std::size_t>(tensors))->numel(), chunk));
  return most * tensors;
}

Scratch norm(const Call& call, const DeviceSpec&) {
  if (!is_uniform(call)) return {.is_incomplete = true};
  const std::int64_t partial = std::max<std::int64_t>(element_bytes(call.input(0)->dtype), 4);
  Scratch result{.blocks = {places(call) * partial}};
  result.make_outputs();
  return result;
}

Scratch maximum(const Call& call, const DeviceSpec&) {
  if (!is_uniform(call)) return {.is_incomplete = true};
  return {.blocks = {places(call) * element_bytes(call.input(0)->dtype)}};
}

constexpr ScratchRule optimizer_rows[] = {
    {"aten::_foreach_norm", norm},
    {"aten::_foreach_max", maximum},
};

}  // namespace

ScratchRules optimizer_scratch() { return optimizer_rows; }

}  // namespace symprof::profile
