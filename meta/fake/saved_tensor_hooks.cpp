#include "meta/fake/saved_tensor_hooks.h"

#include <utility>

namespace symprof::meta {
namespace {

thread_local const SavedTensorHooks* innermost_hooks = nullptr;

}  // namespace

SavedTensorHooks::SavedTensorHooks(Make make)
    : make_(std::move(make)), before_(std::exchange(innermost_hooks, this)) {}

SavedTensorHooks::~SavedTensorHooks() { innermost_hooks = before_; }

const SavedTensorHooks::Make* SavedTensorHooks::innermost() {
  return innermost_hooks == nullptr ? nullptr : &innermost_hooks->make_;
}

}  // namespace symprof::meta
