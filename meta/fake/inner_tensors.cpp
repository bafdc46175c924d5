#include "meta/fake/inner_tensors.h"

#include <ATen/functorch/BatchedTensorImpl.h>
#include <ATen/functorch/TensorWrapper.h>

#include <atomic>

#include "meta/fake/fake_tensor.h"

namespace symprof::meta {
namespace {

std::atomic<InnerTensors> inner_tensors = nullptr;

const at::Tensor& without_transforms(const at::Tensor& tensor) {
  if (const auto* wrapper = at::functorch::maybeGetTensorWrapper(tensor))
    return without_transforms(wrapper->value());
  if (const auto* batched = at::functorch::maybeGetBatchedImpl(tensor))
    return without_transforms(batched->value());
  return tensor;
}

}  // namespace

void set_inner_tensors(InnerTensors find) { inner_tensors = find; }

c10::SmallVector<std::int32_t, 1> storages_of(const at::Tensor& tensor) {
  const at::Tensor& plain = without_transforms(tensor);
  if (const std::int32_t storage = storage_id(plain); storage >= 0) return {storage};
  c10::SmallVector<std::int32_t, 1> storages;
  const InnerTensors find = inner_tensors;
  if (find == nullptr || !plain.key_set().has(c10::DispatchKey::Python)) return storages;
  for (const at::Tensor& inner : find(plain))
    if (const std::int32_t storage = storage_id(inner); storage >= 0) storages.push_back(storage);
  return storages;
}

}  // namespace symprof::meta
