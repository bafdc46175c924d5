#include "meta/fake/known_values.h"

#include <ATen/ATen.h>

#include <cstring>

#include "meta/fake/convert.h"
#include "meta/fake/fake_tensor.h"

namespace symprof::meta {
namespace {

bool can_be_kept(at::ScalarType type) {
  const bool is_number = at::isIntegralType(type, /*includeBool=*/true) || at::isFloatingType(type);
  return is_number && element_bits(dtype_of(type)) >= 8;
}

/// A CPU tensor with the geometry of `like` over `memory`.
at::Tensor tensor_over(const c10::Storage& memory, const at::Tensor& like) {
  auto impl = c10::make_intrusive<c10::TensorImpl>(
      c10::Storage(memory), c10::DispatchKeySet(c10::DispatchKey::CPU), like.dtype());
  impl->set_sizes_and_strides(like.sizes(), like.strides(), like.storage_offset());
  if (like.unsafeGetTensorImpl()->is_wrapped_number()) impl->set_wrapped_number(true);
  return at::Tensor(std::move(impl));
}

bool is_real(const at::Tensor& tensor) {
  return tensor.is_cpu() && !tensor.is_meta() && !is_fake(tensor);
}

}  // namespace

void give_values(const at::Tensor& fake, const at::Tensor& values) {
  c10::Storage* memory = host_memory_of(fake);
  if (memory == nullptr || !can_be_kept(fake.scalar_type())) return;
  const OnRealTensors on_real_tensors;
  const auto bytes = static_cast<std::int64_t>(fake.storage().nbytes());
  const c10::Storage fresh =
      at::zeros({bytes}, at::TensorOptions(at::kByte).device(at::kCPU)).storage();
  tensor_over(fresh, fake).copy_(values);
  *memory = fresh;
}

void give_values(const at::Tensor& fake, std::span<const std::byte> values) {
  if (!can_be_kept(fake.scalar_type())) return;
  const OnRealTensors on_real_tensors;
  const at::Tensor real =
      at::empty(fake.sizes(), at::TensorOptions(fake.scalar_type()).device(at::kCPU));
  TORCH_CHECK(real.nbytes() == values.size(), values.size(), " bytes of values for ",
              to_string(spec_of(fake)));
  if (!values.empty()) std::memcpy(real.mutable_data_ptr(), values.data(), values.size());
  give_values(fake, real);
}

std::optional<at::Tensor> known_values(const at::Tensor& tensor) {
  if (!tensor.defined()) return std::nullopt;
  if (is_real(tensor)) return tensor;
  const c10::Storage* memory = host_memory_of(tensor);
  if (memory == nullptr || !*memory) return std::nullopt;
  return tensor_over(*memory, tensor);
}

void forget_values(const at::Tensor& fake) {
  if (c10::Storage* memory = host_memory_of(fake)) *memory = c10::Storage();
}

}  // namespace symprof::meta
