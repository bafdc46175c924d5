// A tensor that reports a device but has no memory: its own dtype and geometry, over a meta storage
// of the right size. Autograd and all views share that storage, so aliasing and the time of each
// free are PyTorch's own.
#pragma once

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include "base/tensor_spec.h"
#include "meta/fake/observer.h"
#include "meta/fake/values_beside.h"

namespace symprof::meta {

/// True for fake tensors.
bool is_fake(const at::Tensor& tensor);

/// Creates a fake tensor on cuda:0 with a storage just large enough for `spec`. The current mode's
/// observer is notified of the storage.
at::Tensor make_fake(const TensorSpec& spec);

/// Creates a fake tensor over the storage of `whole`, another fake tensor.
at::Tensor make_fake_in(const at::Tensor& whole, const TensorSpec& spec);

/// Creates a fake tensor over the storage of `meta`, a plain meta tensor; the observer is notified
/// if the storage is new.
at::Tensor wrap_meta(const at::Tensor& meta, c10::Device device,
                     const std::shared_ptr<Observer>& observer);

/// A plain meta tensor with the geometry of `fake` over the same storage.
at::Tensor unwrap(const at::Tensor& fake);

/// Copies geometry and storage of `meta` into `fake`, after a call that changed them in place.
void adopt(const at::Tensor& fake, const at::Tensor& meta);

/// Notifies the current mode's observer of a storage created under another mode, once.
void announce(const at::Tensor& fake);

/// Notifies the observer that a storage of fake tensors was resized outside of calls (as FSDP frees
/// and allocates gathered parameters); other storages are ignored.
void announce_size(const c10::Storage& storage);

/// The observer's ids of a tensor's spec and storage. A real tensor has a spec id and no storage.
SeenTensor seen(const at::Tensor& tensor, Observer& observer);

/// The observer's id of the tensor's storage; -1 for a real or undefined tensor.
std::int32_t storage_id(const at::Tensor& tensor);

/// The known values and bounds of its storage. Null for a tensor that is neither fake nor the meta
/// tensor of a fake one.
ValuesBeside* values_beside(const at::Tensor& tensor);

/// While it lives, calls on real tensors run as outside of a fake mode, without autograd.
class OnRealTensors {
  c10::impl::ExcludeDispatchKeyGuard guard_{c10::DispatchKeySet(c10::DispatchKey::Fake) |
                                            c10::autograd_dispatch_keyset_with_ADInplaceOrView};
};

}  // namespace symprof::meta
