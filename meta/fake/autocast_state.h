// Autocast of this thread, kept for later.
#pragma once

#include <ATen/autocast_mode.h>

#include <array>

namespace symprof::meta {

/// What autocast was when `now` was called.
class AutocastState {
 public:
  static AutocastState now();
  /// This state inside torch.autocast("cuda", dtype).
  AutocastState with_cuda(at::ScalarType dtype) const;
  /// Gives this thread's autocast this state again.
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

/// A region of autocast, which is as `state` says for as long as the region lives. Where the
/// outermost one ends, the copies of weights that autocast keeps go (`clear_cache`).
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
