#include "meta/fake/fake_tensor.h"

#include <ATen/EmptyTensor.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>

#include <atomic>

#include "meta/fake/convert.h"
#include "meta/fake/current_mode.h"

namespace symprof::meta {
namespace {

// Owned by the DataPtr of a meta storage: its destruction is when PyTorch would free the block.
struct StorageTag {
  std::shared_ptr<Observer> observer;
  std::int32_t id;
  std::int64_t bytes;
  Place place;
  ValuesBeside values;
};

void free_tag(void* context) {
  auto* tag = static_cast<StorageTag*>(context);
  if (tag->observer) tag->observer->on_free(tag->id);
  delete tag;
}

StorageTag* tag_of(const c10::StorageImpl& storage) {
  return static_cast<StorageTag*>(storage.data_ptr().get_context());
}

// LibTorch stores a sub-byte number in a whole byte; on a device they are packed.
std::int64_t block_bytes(const c10::StorageImpl& storage, at::ScalarType type) {
  const auto bytes = static_cast<std::int64_t>(storage.nbytes());
  return element_bits(dtype_of(type)) < 8 ? packed_bytes(dtype_of(type), bytes) : bytes;
}

/// A unique address for a block, as programs compare addresses and use them as keys. It never
/// overlaps process memory: on x86-64 and ARM, bit 55 is not used in user addresses.
void* address_for(std::int64_t bytes) {
  static std::atomic<std::uintptr_t> next{std::uintptr_t{1} << 55U};
  constexpr std::uintptr_t block = 512;
  if (bytes <= 0) return nullptr;
  const std::uintptr_t size = (static_cast<std::uintptr_t>(bytes) + block - 1) / block * block;
  return reinterpret_cast<void*>(next.fetch_add(size));  // NOLINT(performance-no-int-to-ptr)
}

void hold_tag(c10::StorageImpl& storage, StorageTag* tag) {
  storage.set_data_ptr_noswap(
      c10::DataPtr(address_for(tag->bytes), tag, &free_tag, c10::Device(c10::kMeta)));
}

void set_tag(c10::StorageImpl& storage, at::ScalarType type,
             const std::shared_ptr<Observer>& observer, Place place, bool is_zero = false) {
  const auto bytes = static_cast<std::int64_t>(storage.nbytes());
  const std::int64_t taken = is_zero ? 0 : block_bytes(storage, type);
  const std::int32_t id = observer ? observer->on_allocate(taken, place) : -1;
  hold_tag(storage, new StorageTag{observer, id, bytes, place, {}});
}

void tag_storage(const at::Tensor& meta, const std::shared_ptr<Observer>& observer, Place place) {
  c10::StorageImpl& storage = *meta.storage().unsafeGetStorageImpl();
  const auto bytes = static_cast<std::int64_t>(storage.nbytes());
  const StorageTag* old = tag_of(storage);
  if (old != nullptr && old->bytes == bytes) return;
  // A storage resized in place is a new block: the end of the old tag reports the free.
  set_tag(storage, meta.scalar_type(), observer, place, meta._is_zerotensor());
}

// Key sets with a backend bit and Fake; TensorImpl adds the backend's autograd and autocast keys.
c10::DispatchKeySet keys_of(c10::Device device) {
  const auto backend = device.is_cuda() ? c10::DispatchKey::CUDA : c10::DispatchKey::CPU;
  return c10::DispatchKeySet(backend) | c10::DispatchKeySet(c10::DispatchKey::Fake);
}

/// Copies the bits of lazy views: `x.conj()` is a view with a conjugate bit, and `.imag` of it a
/// view with a negative bit. Operators without support for these bits get a copy
/// (ATen/ConjugateFallback.cpp, ATen/native/NegateFallback.cpp).
void copy_signs(const c10::TensorImpl& from, c10::TensorImpl& to) {
  to._set_conj(from.is_conj());
  to._set_neg(from.is_neg());
}

/// Sets or clears the ZeroTensor key: a zero without memory (tangents of forward AD). Operators
/// without support get real zeros (ATen/ZeroTensorFallback.cpp).
c10::DispatchKeySet with_zero(c10::DispatchKeySet keys, const c10::TensorImpl& like) {
  return like._is_zerotensor() ? keys.add(c10::DispatchKey::ZeroTensor)
                               : keys.remove(c10::DispatchKey::ZeroTensor);
}

/// The tensor class of operators run here. `tensor.data = value` (TensorImpl::shallow_copy_from)
/// creates fake tensors of PyTorch's own class, too: all state is in the base class.
struct FakeTensorImpl final : c10::TensorImpl {
  FakeTensorImpl(c10::Storage storage, caffe2::TypeMeta dtype, c10::Device device)
      : TensorImpl(std::move(storage), keys_of(device), dtype) {
    device_opt_ = device;  // The storage's device is `meta`.
  }

  void copy_geometry(const c10::TensorImpl& other) {
    storage_ = other.storage();
    data_type_ = other.dtype();
    storage_offset_ = other.storage_offset();
    sizes_and_strides_.set_sizes(other.sizes());
    sizes_and_strides_.set_strides(other.strides());
    copy_signs(other, *this);
    key_set_ = with_zero(key_set_, other);
    refresh_numel();
    refresh_contiguous();
    spec_owner_ = 0;
  }

  c10::intrusive_ptr<TensorImpl> shallow_copy_and_detach(const c10::VariableVersion& version,
                                                         bool allow_change) const override {
    if (is_detached_in_python()) return TensorImpl::shallow_copy_and_detach(version, allow_change);
    return copy(version, allow_change);
  }
  c10::intrusive_ptr<TensorImpl> shallow_copy_and_detach(c10::VariableVersion&& version,
                                                         bool allow_change) const override {
    if (is_detached_in_python())
      return TensorImpl::shallow_copy_and_detach(std::move(version), allow_change);
    return copy(std::move(version), allow_change);
  }
  void shallow_copy_from(const c10::intrusive_ptr<TensorImpl>& other) override {
    TensorImpl::shallow_copy_from(other);
    spec_owner_ = 0;
  }

  /// The condition of TensorImpl::shallow_copy_and_detach_core (c10/core/TensorImpl.cpp).
  bool is_detached_in_python() const {
    return (key_set_.has(c10::DispatchKey::Python) ||
            c10::impl::TorchDispatchModeTLS::stack_len() > 0) &&
           !c10::impl::tls_is_dispatch_key_excluded(c10::DispatchKey::Python);
  }

  template <class Version>
  c10::intrusive_ptr<TensorImpl> copy(Version&& version, bool allow_change) const {
    auto result = c10::make_intrusive<FakeTensorImpl>(c10::Storage(storage_), dtype(), device());
    copy_tensor_metadata(this, result.get(), std::forward<Version>(version), allow_change);
    result->refresh_numel();
    result->refresh_contiguous();
    result->spec_owner_ = spec_owner_;
    result->spec_id_ = spec_id_;
    return result;
  }

  // The id of this spec, for the observer with this serial number; 0: none.
  std::uint64_t spec_owner_ = 0;
  std::int32_t spec_id_ = -1;
};

/// Runs `make` in the inference mode of `like`: a view of a tensor created outside of inference
/// mode is no inference tensor either (TensorImpl.h: ImplType VIEW).
template <class Make>
auto made_like(c10::TensorImpl& like, Make make) {
  if (like.is_inference() == c10::InferenceMode::is_enabled()) return make();
  const c10::InferenceMode mode(like.is_inference());
  return make();
}

/// Null for a fake tensor of PyTorch's own class.
FakeTensorImpl* impl_of(const at::Tensor& tensor) {
  return dynamic_cast<FakeTensorImpl*>(tensor.unsafeGetTensorImpl());
}

/// A fake tensor over the storage of `meta`, with its geometry.
c10::intrusive_ptr<FakeTensorImpl> fake_over(const at::Tensor& meta, c10::Device device,
                                             c10::TensorImpl& like) {
  auto impl = made_like(like, [&] {
    return c10::make_intrusive<FakeTensorImpl>(c10::Storage(meta.storage()), meta.dtype(), device);
  });
  impl->copy_geometry(*meta.unsafeGetTensorImpl());
  return impl;
}

std::int32_t spec_id(const at::Tensor& fake, Observer& observer) {
  FakeTensorImpl* impl = impl_of(fake);
  if (impl == nullptr) return observer.on_spec(spec_of(fake));
  if (impl->spec_owner_ != observer.serial()) {
    impl->spec_id_ = observer.on_spec(spec_of(fake));
    impl->spec_owner_ = observer.serial();
  }
  return impl->spec_id_;
}

/// A program may use tensors of a finished simulation in the next one. Otherwise a mode's calls on
/// another mode's tensors leave the storages to their owner.
void announce_to(const Observer& observer, const at::Tensor& fake) {
  const StorageTag* tag = tag_of(*fake.storage().unsafeGetStorageImpl());
  if (tag != nullptr && tag->observer.get() != &observer && is_in_program()) announce(fake);
}

}  // namespace

bool is_fake(const at::Tensor& tensor) {
  return tensor.defined() && tensor.unsafeGetTensorImpl()->key_set().has(c10::DispatchKey::Fake);
}

at::Tensor wrap_meta(const at::Tensor& meta, c10::Device device,
                     const std::shared_ptr<Observer>& observer) {
  tag_storage(meta, observer, device.is_cuda() ? Place::device : Place::host);
  return at::Tensor(fake_over(meta, device, *meta.unsafeGetTensorImpl()));
}

at::Tensor make_fake(const TensorSpec& spec) {
  const at::Tensor meta(
      at::detail::empty_strided_meta(spec.sizes, spec.strides, scalar_type(spec.dtype)));
  return wrap_meta(meta, c10::Device(c10::kCUDA, 0), current_observer());
}

at::Tensor make_fake_in(const at::Tensor& whole, const TensorSpec& spec) {
  const at::Tensor meta = unwrap(whole);
  meta.unsafeGetTensorImpl()->set_sizes_and_strides(spec.sizes, spec.strides, spec.storage_offset);
  return wrap_meta(meta, whole.device(), current_observer());
}

at::Tensor unwrap(const at::Tensor& fake) {
  c10::TensorImpl& impl = *fake.unsafeGetTensorImpl();
  auto meta = made_like(impl, [&] {
    return c10::make_intrusive<c10::TensorImpl>(
        c10::Storage(impl.storage()), with_zero(c10::DispatchKeySet(c10::DispatchKey::Meta), impl),
        impl.dtype());
  });
  meta->set_sizes_and_strides(impl.sizes(), impl.strides(), impl.storage_offset());
  copy_signs(impl, *meta);
  if (impl.is_wrapped_number()) meta->set_wrapped_number(true);
  return at::Tensor(std::move(meta));
}

void adopt(const at::Tensor& fake, const at::Tensor& meta) {
  const StorageTag* tag = tag_of(*meta.storage().unsafeGetStorageImpl());
  const bool same_storage =
      fake.storage().unsafeGetStorageImpl() == meta.storage().unsafeGetStorageImpl();
  if (!same_storage || tag == nullptr ||
      tag->bytes != static_cast<std::int64_t>(meta.storage().nbytes()))
    tag_storage(meta, current_observer(), fake.device().is_cuda() ? Place::device : Place::host);
  if (same_storage && fake.sizes() == meta.sizes() && fake.strides() == meta.strides() &&
      fake.storage_offset() == meta.storage_offset())
    return;
  if (FakeTensorImpl* impl = impl_of(fake))
    impl->copy_geometry(*meta.unsafeGetTensorImpl());
  else
    fake.unsafeGetTensorImpl()->shallow_copy_from(
        fake_over(meta, fake.device(), *fake.unsafeGetTensorImpl()));
}

void announce(const at::Tensor& fake) {
  const auto observer = current_observer();
  c10::StorageImpl& storage = *fake.storage().unsafeGetStorageImpl();
  const StorageTag* tag = tag_of(storage);
  if (tag != nullptr && tag->observer == observer) return;
  const ValuesBeside values = tag == nullptr ? ValuesBeside() : tag->values;
  set_tag(storage, fake.scalar_type(), observer,
          fake.device().is_cuda() ? Place::device : Place::host);
  tag_of(storage)->values = values;
}

void announce_size(const c10::Storage& storage) {
  c10::StorageImpl& impl = *storage.unsafeGetStorageImpl();
  const StorageTag* old = impl.device_type() == c10::kMeta ? tag_of(impl) : nullptr;
  const auto bytes = static_cast<std::int64_t>(impl.nbytes());
  if (old == nullptr || old->bytes == bytes) return;
  const auto observer = current_observer();
  const bool is_known = observer && old->observer == observer;
  const std::int32_t id = is_known   ? observer->on_resize(old->id, bytes, old->place)
                          : observer ? observer->on_allocate(bytes, old->place)
                                     : -1;
  hold_tag(impl, new StorageTag{observer, id, bytes, old->place, {}});
}

SeenTensor seen(const at::Tensor& tensor, Observer& observer) {
  if (!tensor.defined()) return {};
  if (!is_fake(tensor)) return {observer.on_spec(spec_of(tensor)), -1};
  const std::int32_t spec = spec_id(tensor, observer);
  announce_to(observer, tensor);
  return {spec, storage_id(tensor)};
}

std::int32_t storage_id(const at::Tensor& tensor) {
  if (!is_fake(tensor)) return -1;
  const StorageTag* tag = tag_of(*tensor.storage().unsafeGetStorageImpl());
  return tag == nullptr ? -1 : tag->id;
}

ValuesBeside* values_beside(const at::Tensor& tensor) {
  if (!tensor.defined() || (!is_fake(tensor) && !tensor.is_meta())) return nullptr;
  StorageTag* tag = tag_of(*tensor.storage().unsafeGetStorageImpl());
  return tag == nullptr ? nullptr : &tag->values;
}

}  // namespace symprof::meta
