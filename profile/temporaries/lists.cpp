// Operators on lists of tensors. Their pointers travel as arguments of kernels
// (aten/src/ATen/native/cuda/MultiTensorApply.cuh); reductions meet in memory
// (ForeachReduceOp.cu).
#include <algorithm>

#include "profile/rounding.h"
#include "profile/temporaries/temporaries.h"

namespace symprof::profile {
namespace {

constexpr std::int64_t chunk = 65536;  // Elements of a block.

/// A place for each chunk of each tensor, as many as the longest has.
std::int64_t places(const Call& call) {
  std::int64_t most = 0, tensors = 0;
  for (; call.input(static_cast<std::size_t>(tensors)) != nullptr; ++tensors)
    most = std::max(most, divide_up(call.input(static_cast<std::size_t>(tensors))->numel(), chunk));
  return most * tensors;
}

/// One device kernel serves tensors of one type and layout; others go one by one.
bool is_uniform(const Call& call) {
  for (std::size_t i = 1; call.input(i) != nullptr; ++i)
    if (call.input(i)->dtype != call.input(0)->dtype) return false;
  return call.input(0) != nullptr;
}

Temporaries norm(const Call& call, const DeviceSpec&) {
  if (!is_uniform(call)) return {.is_incomplete = true};
  const std::int64_t partial = std::max<std::int64_t>(element_bytes(call.input(0)->dtype), 4);
  Temporaries result{.blocks = {places(call) * partial}};
  result.make_outputs();
  return result;
}

Temporaries maximum(const Call& call, const DeviceSpec&) {
  if (!is_uniform(call)) return {.is_incomplete = true};
  return {.blocks = {places(call) * element_bytes(call.input(0)->dtype)}};
}

constexpr TemporariesRule rows[] = {
    {"aten::_foreach_norm", norm},
    {"aten::_foreach_max", maximum},
};

}  // namespace

TemporariesRules list_temporaries() { return rows; }

}  // namespace symprof::profile
