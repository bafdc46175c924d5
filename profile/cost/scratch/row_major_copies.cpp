#include "profile/cost/scratch/row_major_copies.h"

#include "profile/cost/scratch/layout.h"

namespace symprof::profile {

Scratch row_major_first(const Call& call, const DeviceSpec&) {
  const TensorSpec* tensor = call.input(0);
  if (tensor == nullptr) return {.is_incomplete = true};
  Scratch result;
  if (!is_row_major(*tensor)) result.take(tensor->bytes());
  return result;
}

Scratch row_major_all(const Call& call, const DeviceSpec&) {
  Scratch result;
  for (std::size_t i = 0; i < call.output_count(); ++i)
    if (call.output(i) != nullptr && !is_row_major(*call.output(i)))
      result.take(call.output(i)->bytes());
  for (std::size_t i = 0; call.input(i) != nullptr; ++i)
    if (!is_row_major(*call.input(i))) result.take(call.input(i)->bytes());
  return result;
}

}  // namespace symprof::profile
