// An observer that records nothing: a base class for observers of single events.
#pragma once

#include "meta/fake/observer.h"

namespace symprof::meta {

class SilentObserver : public Observer {
 public:
  std::int32_t on_allocate(std::int64_t, Place) override { return 0; }
  void on_free(std::int32_t) noexcept override {}
  std::int32_t on_spec(TensorSpec) override { return 0; }
  void on_call_begin(const c10::OperatorHandle&) override {}
  void on_call(const SeenCall&) override {}
  void on_saved(std::int32_t) override {}
};

/// Takes the upper bound of every unbacked size.
class UpperBounds final : public SilentObserver {
 public:
  std::optional<std::int64_t> unbacked_size(std::optional<std::int64_t> most) override {
    return most;
  }
  bool takes_upper_bounds() override { return true; }
};

}  // namespace symprof::meta
