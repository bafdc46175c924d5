#include "shape/eager/program_values.h"

#include <ATen/ATen.h>
#include <c10/core/DispatchKeySet.h>

#include "base/error.h"
#include "meta/fake/fake_tensor.h"
#include "meta/fake/inner_tensors.h"
#include "meta/fake/known_values.h"
#include "meta/fake/observer.h"

namespace symprof {

std::optional<at::Tensor> copy_of_known_values(const at::Tensor& tensor) {
  if (!meta::is_fake(tensor)) return std::nullopt;
  const std::optional<at::Tensor> values = meta::known_values(tensor);
  if (!values) return std::nullopt;
  const meta::OnRealTensors on_real_tensors;
  return values->clone();
}

void give_known_values(const at::Tensor& tensor, const at::Tensor& values) {
  if (tensor.sizes() != values.sizes() || tensor.scalar_type() != values.scalar_type())
    throw Error("values", "found a tensor of other sizes or another dtype",
                "Give those of the tensor that they are for.");
  meta::give_values(tensor, values);
}

void mark_upper_bound() {
  if (const auto observer = meta::current_observer()) observer->takes_upper_bounds();
}

void look_inside_wrappers_by(std::vector<at::Tensor> (*inside)(const at::Tensor& wrapper)) {
  meta::set_inner_tensors(inside);
}

std::uint64_t fake_key_set() { return c10::DispatchKeySet(c10::DispatchKey::Fake).raw_repr(); }

}  // namespace symprof
