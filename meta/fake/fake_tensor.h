// A tensor that claims a device and has no memory: dtype and geometry of its own, over a meta
// storage of the right size. Autograd and every view share that storage, so aliasing, and the
// moment at which memory would be freed, are PyTorch's own.
#pragma once

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include "base/tensor_spec.h"
#include "meta/fake/known_values.h"
#include "meta/fake/observer.h"

namespace symprof::meta {

/// True for tensors made here.
bool is_fake(const at::Tensor& tensor);

/// A new fake tensor on cuda:0 with a storage that just holds `spec`. The observer of the current
/// mode is told of the storage.
at::Tensor make_fake(const TensorSpec& spec);

/// A new fake tensor over the storage of `whole`, another fake one.
at::Tensor make_fake_in(const at::Tensor& whole, const TensorSpec& spec);

/// A new fake tensor over the storage of `meta`, a plain meta tensor; the observer is told when the
/// storage is new.
at::Tensor wrap_meta(const at::Tensor& meta, c10::Device device,
                     const std::shared_ptr<Observer>& observer);

/// A plain meta tensor with the geometry of `fake` over the same storage.
at::Tensor unwrap(const at::Tensor& fake);

/// Copies geometry and storage of `meta` into `fake`, after a call that changed them in place.
void adopt(const at::Tensor& fake, const at::Tensor& meta);

/// Tells the observer of the current mode of a storage that was made under another mode, once.
void announce(const at::Tensor& fake);

/// Tells the observer that a storage behind fake tensors was resized from outside of every call (as
/// FSDP frees and takes gathered parameters); others are passed over.
void announce_size(const c10::Storage& storage);

/// The ids under which `observer` knows a tensor's geometry and storage. A real tensor gets a
/// geometry and no storage.
SeenTensor seen(const at::Tensor& tensor, Observer& observer);

/// The observer's id of the tensor's storage; -1 for a real or undefined tensor.
std::int32_t storage_id(const at::Tensor& tensor);

/// What is known of the numbers in its storage. Null for a tensor that was not made here, and is
/// not the meta tensor behind one.
ValuesBeside* values_beside(const at::Tensor& tensor);

/// While it lives, calls on real tensors run as they would outside a fake mode, without autograd.
class OnRealTensors {
  c10::impl::ExcludeDispatchKeyGuard guard_{c10::DispatchKeySet(c10::DispatchKey::Fake) |
                                            c10::autograd_dispatch_keyset_with_ADInplaceOrView};
};

}  // namespace symprof::meta
