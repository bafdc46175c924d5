// Saves and restores this thread's autocast state.
#pragma once

#include <ATen/autocast_mode.h>

#include <array>

namespace symprof::meta {

/// The autocast state at the call of `now`.
class AutocastState {
 public:
  static AutocastState now();
  /// This state with torch.autocast("cuda", dtype) entered.
  AutocastState with_cuda(at::ScalarType dtype) const;
  /// Sets this thread's autocast to this state.
  void restore() const;

 private:
  struct Entry {
    bool enabled = false;
    at::ScalarType dtype = at::kHalf;
  };
  static constexpr std::array devices = {at::kCPU, at::kCUDA};
  std::array<Entry, devices.size()> entries_;
  bool cache_ = true;
};

/// Sets autocast to `state` while it lives. The end of the outermost region releases autocast's
/// cached copies of weights (`clear_cache`).
class AutocastRegion {
 public:
  explicit AutocastRegion(const AutocastState& state);
  ~AutocastRegion();
  AutocastRegion(const AutocastRegion&) = delete;
  AutocastRegion& operator=(const AutocastRegion&) = delete;

 private:
  AutocastState before_;
};

}  // namespace symprof::meta
