#include "shape/recipe/optimizers/optimizers.h"

#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>
#include <ATen/native/ForeachUtils.h>

#include "meta/fake/convert.h"
#include "meta/fake/fake_mode.h"
#include "meta/fake/fake_tensor.h"

namespace symprof::shape {
namespace {

thread_local c10::Device make_on = at::kCPU;

Tensors chosen(const Tensors& tensors, const std::vector<std::size_t>& indices) {
  Tensors result;
  if (tensors.empty()) return result;  // For clipping, only `parameters` is filled, with gradients.
  result.reserve(indices.size());
  for (const std::size_t index : indices) result.push_back(tensors[index]);
  return result;
}

}  // namespace

std::vector<OptimizerTensors> by_dtype(const OptimizerTensors& tensors) {
  if (tensors.parameters.empty()) return {};
  const std::vector<std::optional<at::Tensor>> keys(tensors.parameters.begin(),
                                                    tensors.parameters.end());
  std::vector<OptimizerTensors> groups;
  for (const auto& [key, group] : at::native::_group_tensors_by_first_tensors_device_and_dtype(
           {keys}, /*with_indices=*/true)) {
    const auto& indices = group.second;
    const auto of = [&](const Tensors& list) { return chosen(list, indices); };
    OptimizerTensors& added = groups.emplace_back();
    added.parameters = of(tensors.parameters);
    added.gradients = of(tensors.gradients);
    for (const Tensors& states : tensors.states) added.states.push_back(of(states));
  }
  return groups;
}

at::Tensor as_real(const at::Tensor& tensor) {
  return tensor.is_complex() ? at::view_as_real(tensor) : tensor;
}

void view_as_real(OptimizerTensors& group) {
  for (std::size_t i = 0; i < group.parameters.size(); ++i) {
    for (Tensors* list : {&group.parameters, &group.gradients}) (*list)[i] = as_real((*list)[i]);
    for (Tensors& states : group.states)
      if (!states.empty()) states[i] = as_real(states[i]);
  }
}

at::Tensor state_like(const at::Tensor& tensor) { return state_like(tensor, tensor.scalar_type()); }

at::Tensor state_like(const at::Tensor& tensor, at::ScalarType dtype) {
  std::vector<std::int64_t> strides =
      tensor.is_non_overlapping_and_dense()
          ? tensor.strides().vec()
          : at::infer_dense_strides(tensor.sizes(), tensor.strides());
  return made_tensor({meta::dtype_of(dtype), tensor.sizes().vec(), std::move(strides), 0});
}

at::Tensor state_of(at::IntArrayRef sizes, at::ScalarType dtype) {
  std::vector<std::int64_t> extents = sizes.vec();
  auto strides = contiguous_strides(extents);
  return made_tensor({meta::dtype_of(dtype), std::move(extents), std::move(strides), 0});
}

at::Tensor made_tensor(const TensorSpec& spec) {
  if (meta::current_attention_policy() != nullptr) return meta::make_fake(spec);
  return at::empty_strided(spec.sizes, spec.strides,
                           at::TensorOptions(meta::scalar_type(spec.dtype)).device(make_on))
      .zero_();
}

MakeOn::MakeOn(c10::Device device) : before_(std::exchange(make_on, device)) {}
MakeOn::~MakeOn() { make_on = before_; }

}  // namespace symprof::shape
