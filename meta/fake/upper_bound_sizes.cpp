#include "meta/fake/upper_bound_sizes.h"

#include "meta/fake/known_values.h"
#include "meta/fake/tensors_in.h"

namespace symprof::meta {
namespace {

thread_local bool is_upper_bound_taken = false;

}  // namespace

void take_upper_bound() { is_upper_bound_taken = true; }

UpperBoundSizes::UpperBoundSizes() { is_upper_bound_taken = false; }

void UpperBoundSizes::note_input(const at::Tensor& tensor) {
  of_input_ = of_input_ || has_upper_bound_size(tensor);
}

void UpperBoundSizes::mark(const c10::OperatorHandle& op,
                           std::span<const c10::IValue> results) const {
  if (!of_input_ && !is_upper_bound_taken) return;
  for (std::size_t i = 0; i < results.size(); ++i)
    if (op.schema().returns()[i].alias_info() == nullptr)
      for_each_tensor(results[i], [](const at::Tensor& tensor) { set_upper_bound_size(tensor); });
}

}  // namespace symprof::meta
