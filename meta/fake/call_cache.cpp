// torch/utils/checkpoint.py of PyTorch 2.13: _CachingTorchDispatchMode, _CachedTorchDispatchMode,
// _VersionWrapper, _detach_helper. A tensor is kept without its autograd history, which would keep
// the region and thus the tensor itself alive; its version is the version of the program's tensor.
#include "meta/fake/call_cache.h"

#include "meta/fake/fake_tensor.h"
#include "meta/fake/observer.h"
#include "meta/fake/tensors_in.h"

namespace symprof::meta {
namespace {

thread_local CallCache* innermost_cache = nullptr;

at::Tensor without_history(const at::Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  at::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  return at::Tensor(impl.shallow_copy_and_detach(impl.version_counter(), false));
}

}  // namespace

CallCache::Keeping::Keeping(CallCache& cache) : before_(std::exchange(innermost_cache, &cache)) {
  cache.is_answering_ = false;
  cache.counts_.clear();
}
CallCache::Keeping::~Keeping() { innermost_cache = before_; }

CallCache::Answering::Answering(CallCache& cache)
    : before_(std::exchange(innermost_cache, &cache)) {
  cache.is_answering_ = true;
  cache.counts_.clear();
}
CallCache::Answering::~Answering() { innermost_cache = before_; }

CallCache::Pausing::Pausing() : before_(std::exchange(innermost_cache, nullptr)) {}
CallCache::Pausing::~Pausing() { innermost_cache = before_; }

CallCache* CallCache::innermost() { return innermost_cache; }

bool CallCache::answer(const c10::OperatorHandle& op, torch::jit::Stack& stack, std::size_t first) {
  if (!is_answering_) return false;
  const std::string& name = op.schema().name();
  const auto found = results_.find({name, counts_[name]++});
  if (found == results_.end()) return false;
  auto version = found->second.versions.begin();
  for (const c10::IValue& result : found->second.results)
    for_each_tensor(result, [&](const at::Tensor& tensor) {
      if (!tensor.defined()) return;
      TORCH_CHECK(tensor.unsafeGetTensorImpl()->version_counter().current_version() == *version++,
                  "the plan keeps an output of ", name,
                  " that is changed later: Tensor cached during selective activation checkpoint "
                  "has been mutated");
    });
  stack.resize(first);
  for (c10::IValue& result : found->second.results) stack.push_back(std::move(result));
  results_.erase(found);
  return true;
}

void CallCache::finish(const c10::OperatorHandle& op, std::span<const c10::IValue> results) {
  if (is_answering_) return;
  const std::string& name = op.schema().name();
  const Key key{name, counts_[name]++};
  if (!kept_.contains(key)) return;
  Kept& kept = results_[key];
  const auto observer = current_observer();
  for (const c10::IValue& result : results) {
    c10::IValue copy = result;
    convert_tensors(copy, without_history);
    for_each_tensor(copy, [&](const at::Tensor& tensor) {
      if (!tensor.defined()) return;
      if (observer) observer->on_saved(storage_id(tensor));
      kept.versions.push_back(tensor.unsafeGetTensorImpl()->version_counter().current_version());
    });
    kept.results.push_back(std::move(copy));
  }
}

std::vector<CallCache::Key> CallCache::missing() const {
  std::vector<Key> missing;
  for (const Key& key : kept_)
    if (!results_.contains(key)) missing.push_back(key);
  return missing;
}

}  // namespace symprof::meta
