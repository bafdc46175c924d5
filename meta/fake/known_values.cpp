#include "meta/fake/known_values.h"

#include <ATen/ATen.h>

#include <cstring>

#include "meta/fake/convert.h"
#include "meta/fake/fake_tensor.h"

namespace symprof::meta {
namespace {

/// Limit for computing bounds: for more numbers it takes too long.
constexpr std::int64_t most_compared_elements = std::int64_t{1} << 16;

bool can_be_kept(at::ScalarType type) {
  const bool is_number = at::isIntegralType(type, /*includeBool=*/true) || at::isFloatingType(type);
  return is_number && element_bits(dtype_of(type)) >= 8;
}

at::Tensor host_tensor(const c10::Storage& memory, caffe2::TypeMeta dtype, at::IntArrayRef sizes,
                       at::IntArrayRef strides, std::int64_t offset) {
  auto impl = c10::make_intrusive<c10::TensorImpl>(
      c10::Storage(memory), c10::DispatchKeySet(c10::DispatchKey::CPU), dtype);
  impl->set_sizes_and_strides(sizes, strides, offset);
  return at::Tensor(std::move(impl));
}

/// A CPU tensor over `memory` with the geometry of `like`.
at::Tensor tensor_over(const c10::Storage& memory, const at::Tensor& like) {
  at::Tensor tensor =
      host_tensor(memory, like.dtype(), like.sizes(), like.strides(), like.storage_offset());
  if (like.unsafeGetTensorImpl()->is_wrapped_number())
    tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

/// The bytes of `like` in `memory`.
at::Tensor bytes_over(const c10::Storage& memory, const at::Tensor& like) {
  const auto size = static_cast<std::int64_t>(like.element_size());
  c10::DimVector sizes(like.sizes()), strides;
  for (const std::int64_t stride : like.strides()) strides.push_back(stride * size);
  sizes.push_back(size);
  strides.push_back(1);
  return host_tensor(memory, caffe2::TypeMeta::Make<std::uint8_t>(), sizes, strides,
                     like.storage_offset() * size);
}

c10::Storage bytes_of(const at::Tensor& fake, std::uint8_t value) {
  const auto count = static_cast<std::int64_t>(fake.storage().nbytes());
  return at::full({count}, value, at::TensorOptions(at::kByte).device(at::kCPU)).storage();
}

bool is_real(const at::Tensor& tensor) {
  return tensor.is_cpu() && !tensor.is_meta() && !is_fake(tensor);
}

/// The range of all numbers of the dtype.
ValueRange range_of_dtype(at::ScalarType type) {
  if (type == at::kBool) return between(0, 1);
  if (type == at::kByte) return between(0, 255);
  return {};
}

ValueRange range_of_values(const at::Tensor& real) {
  const OnRealTensors on_real_tensors;
  const auto [low, high] = at::aminmax(real.to(at::kDouble));
  const double least = low.item<double>(), most = high.item<double>();
  return least <= most ? between(least, most) : ValueRange{};  // NaN has no bounds.
}

}  // namespace

bool is_whole_storage(const at::Tensor& tensor) {
  return tensor.numel() * static_cast<std::int64_t>(tensor.element_size()) ==
         static_cast<std::int64_t>(tensor.storage().nbytes());
}

void give_values(const at::Tensor& fake, const at::Tensor& values) {
  ValuesBeside* beside = values_beside(fake);
  if (beside == nullptr || !can_be_kept(fake.scalar_type())) return;
  const OnRealTensors on_real_tensors;
  if (is_whole_storage(fake)) {
    const c10::Storage fresh = bytes_of(fake, 0);
    tensor_over(fresh, fake).copy_(values);
    *beside = {.numbers = fresh, .has_upper_bound_size = beside->has_upper_bound_size};
    return;
  }
  if (!beside->numbers) {
    beside->numbers = bytes_of(fake, 0);
    beside->known_part = bytes_of(fake, 0);
  }
  tensor_over(beside->numbers, fake).copy_(values);
  if (beside->known_part) bytes_over(beside->known_part, fake).fill_(1);
  if (beside->range && values.numel() > 0)
    beside->range = both(*beside->range, range_of_values(values));
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
  const ValuesBeside* beside = values_beside(tensor);
  if (beside != nullptr && beside->are_assumed) return std::nullopt;
  return assumed_values(tensor);
}

void set_assumed(const at::Tensor& fake) {
  if (ValuesBeside* beside = values_beside(fake)) beside->are_assumed = true;
}

std::optional<at::Tensor> assumed_values(const at::Tensor& tensor) {
  if (!tensor.defined()) return std::nullopt;
  if (is_real(tensor)) return tensor;
  const ValuesBeside* beside = values_beside(tensor);
  if (beside == nullptr || !beside->numbers) return std::nullopt;
  if (beside->known_part) {
    const OnRealTensors on_real_tensors;
    if (!bytes_over(beside->known_part, tensor).all().item<bool>()) return std::nullopt;
  }
  return tensor_over(beside->numbers, tensor);
}

void forget_values(const at::Tensor& fake) {
  ValuesBeside* beside = values_beside(fake);
  if (beside == nullptr) return;
  beside->range.reset();
  if (!beside->numbers) return;
  if (is_whole_storage(fake) || fake.storage().nbytes() > most_followed_elements) {
    beside->numbers = beside->known_part = c10::Storage();
    beside->are_assumed = false;
    return;
  }
  const OnRealTensors on_real_tensors;
  if (!beside->known_part) beside->known_part = bytes_of(fake, 1);
  bytes_over(beside->known_part, fake).fill_(0);
}

ValueRange range_of(const at::Tensor& tensor) {
  if (!tensor.defined()) return {};
  const ValueRange any = range_of_dtype(tensor.scalar_type());
  if (!can_be_kept(tensor.scalar_type()) || tensor.is_conj()) return any;
  if (tensor.numel() > 0 && tensor.numel() <= most_compared_elements)
    if (const auto values = known_values(tensor)) return range_of_values(*values);
  const ValuesBeside* beside = values_beside(tensor);
  return beside != nullptr && beside->range ? *beside->range : any;
}

bool may_be_bounded(const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.is_conj()) return false;
  const at::ScalarType type = tensor.scalar_type();
  if (type == at::kBool || type == at::kByte || is_real(tensor)) return true;
  const ValuesBeside* beside = values_beside(tensor);
  return beside != nullptr && (beside->numbers || beside->range);
}

void set_range(const at::Tensor& fake, const ValueRange& range) {
  ValuesBeside* beside = values_beside(fake);
  if (beside == nullptr) return;
  beside->range = range.is_bounded() ? std::optional(range) : std::nullopt;
}

bool has_upper_bound_size(const at::Tensor& tensor) {
  const ValuesBeside* beside = values_beside(tensor);
  return beside != nullptr && beside->has_upper_bound_size;
}

void set_upper_bound_size(const at::Tensor& fake) {
  if (ValuesBeside* beside = values_beside(fake)) beside->has_upper_bound_size = true;
}

}  // namespace symprof::meta
